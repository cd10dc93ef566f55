"""What a run looks like: a fold over its ledger, a report in one file, figures. Nothing here keeps state or decides."""
