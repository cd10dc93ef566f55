"""Run untrusted code: warm, isolated, limited."""
