"""Verify Sealed Shoe rounds, shoes and logs without trusting the operator."""
