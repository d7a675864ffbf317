"""Machine facts for records, `doctor`, simulated hosts."""
