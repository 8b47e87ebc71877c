"""The log is the database: one interface (`interface`), one engine so far (`sqlite`)."""
