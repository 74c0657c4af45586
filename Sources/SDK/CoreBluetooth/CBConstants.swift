/// The option of a central manager: the identifier that the system keeps its state under.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// The option of a central manager: whether the system warns when Bluetooth is off.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"

/// The option of a scan: whether each advertisement is reported, or each peripheral once.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// The option of a scan: report peripherals that solicit these services.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

/// The option of a connect: wake the app when the connection is made.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// The option of a connect: wake the app when the connection ends.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey =
    "kCBConnectOptionNotifyOnDisconnection"
/// The option of a connect: tell of notifications that arrive while the app is suspended.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// The option of a connect: how long to wait before it, in seconds.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"
/// The option of a connect: connect again by itself after a link loss.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"

/// The option of a connect: connect only while the peripheral lets the phone's notification centre be used.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"
/// The option of a connect: connect over classic Bluetooth too, where the peripheral can.
public let CBConnectPeripheralOptionEnableTransportBridgingKey =
    "kCBConnectOptionEnableTransportBridging"

/// What a restored manager had: its peripherals, an array of ``CBPeripheral``.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// What a restored manager had: the services of its scan, an array of ``CBUUID``.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// What a restored manager had: the options of its scan, a dictionary.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"

/// The option of a peripheral manager: the identifier that the system keeps its state under.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// The option of a peripheral manager: whether the system warns when Bluetooth is off.
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// What a restored peripheral manager had: its services, an array of ``CBMutableService``.
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
/// What a restored peripheral manager had: what it advertised, a dictionary.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisement"

/// In an advertisement: the local name, a string.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// In an advertisement: the transmit power in dBm, an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// In an advertisement: services, an array of ``CBUUID``.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// In an advertisement: data of services, a dictionary from ``CBUUID`` to `Data`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// In an advertisement: the manufacturer's data.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// In an advertisement: services in the overflow area, an array of ``CBUUID``.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// In an advertisement: whether the peripheral takes connections, an `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// In an advertisement: solicited services, an array of ``CBUUID``.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"
