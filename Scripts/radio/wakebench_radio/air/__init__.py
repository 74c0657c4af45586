"""Device files as true Bluetooth LE peripherals, centrals and beacons, on any HCI transport that Bumble opens."""
