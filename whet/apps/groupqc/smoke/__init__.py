"""The whole path tried with no model."""
