"""The other side of an environment of verifiers: a process in the interpreter that has the library.

It stands on the standard library and verifiers alone, since Whet need not be installed there.
`whet.envs.verifiers.peer` loads this folder as a package of its own, so its modules name one another relative to it.
"""
