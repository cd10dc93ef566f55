"""Rule search: a rule book that grows under a gate, one judged operation after another."""
