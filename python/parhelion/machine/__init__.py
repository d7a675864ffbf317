"""What a machine is: facts for records, `doctor`, simulated hosts."""
