"""Names that programs expect and that have no engine behind them: settings, legacy types."""
