"""Of the package wiregauge a runner has the packed field alone: wiregauge.packed."""
