"""org.bluez on a private D-Bus, whose radio is a Bumble host on any HCI transport."""
