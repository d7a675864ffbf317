"""What every command has: option types, where it writes, exit statuses. No command is here."""
