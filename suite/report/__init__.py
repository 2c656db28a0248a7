"""report.html: one page with figures, verdicts, deviations and costs."""
