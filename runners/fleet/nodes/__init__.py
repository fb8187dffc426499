"""Nodes: enrolment, capabilities, health and service."""
