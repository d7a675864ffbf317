"""`parhelion runs history`: at which runs of a store figures became slower or faster, and what changed there."""
