"""Baccarat: cards, drawing rules, bets, settlement and exact odds. Pure; knows no log and no protobuf."""
