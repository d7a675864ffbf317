"""What every part of the library uses: arguments checked on one rank, errors raised on all. Knows no domain and no exchange."""
