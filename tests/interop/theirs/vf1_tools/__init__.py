"""A taskset of verifiers 0.4 with tools: one server for each attempt, which keeps state, and one for all."""

from vf1_tools.taskset import BasketTaskset

__all__ = ["BasketTaskset"]
