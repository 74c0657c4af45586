import WakeModel

extension WireTranslation {
    /// The delegate method that an event calls, as outcomes name it.
    static func delegateMethod(_ kind: EventKind, peripheralRole: Bool = false) -> String {
        switch kind {
        case .bluetoothPoweredOn where peripheralRole, .bluetoothPoweredOff where peripheralRole:
            "peripheralManagerDidUpdateState"
        case .bluetoothPoweredOn, .bluetoothPoweredOff: "centralManagerDidUpdateState"
        case .peripheralDiscovered: "didDiscover"
        case .peripheralConnected: "didConnect"
        case .peripheralConnectionFailed: "didFailToConnect"
        case .peripheralDisconnected: "didDisconnectPeripheral"
        case .characteristicNotified, .valueRead: "didUpdateValueFor"
        case .servicesDiscovered: "didDiscoverServices"
        case .includedServicesDiscovered: "didDiscoverIncludedServicesFor"
        case .characteristicsDiscovered: "didDiscoverCharacteristicsFor"
        case .descriptorsDiscovered: "didDiscoverDescriptorsFor"
        case .valueWritten, .descriptorWritten: "didWriteValueFor"
        case .notificationStateChanged: "didUpdateNotificationStateFor"
        case .descriptorRead: "didUpdateValueForDescriptor"
        case .signalStrengthRead: "didReadRSSI"
        case .nameChanged: "peripheralDidUpdateName"
        case .servicesModified: "didModifyServices"
        case .readyToWrite: "peripheralIsReady"
        case .serviceAdded: "didAdd"
        case .advertisingStarted: "peripheralManagerDidStartAdvertising"
        case .centralSubscribed: "didSubscribeTo"
        case .centralUnsubscribed: "didUnsubscribeFrom"
        case .readRequested: "didReceiveRead"
        case .writeRequested: "didReceiveWrite"
        case .readyToUpdate: "peripheralManagerIsReady"
        case .channelPublished: "didPublishL2CAPChannel"
        case .channelUnpublished: "didUnpublishL2CAPChannel"
        case .channelOpened: "didOpen"
        case .channelDataAvailable: "stream"
        case .connectionEvent: "connectionEventDidOccur"
        case .positionFixed, .significantChange: "didUpdateLocations"
        case .visitBegan, .visitEnded: "didVisit"
        case .regionEntered: "didEnterRegion"
        case .regionExited: "didExitRegion"
        case .regionStateDetermined: "didDetermineState"
        case .monitoringStarted: "didStartMonitoringFor"
        case .monitoringFailed: "monitoringDidFailFor"
        case .locationUpdatesPaused: "locationManagerDidPauseLocationUpdates"
        case .authorizationChanged: "locationManagerDidChangeAuthorization"
        case .locationFailed: "didFailWithError"
        case .beaconSighted, .beaconsRanged: "didRange"
        case .voipData, .voipClosed: "stream"
        case .voipKeepAlive: "keepAliveHandler"
        case .voipAfterBoot, .voipAfterExit: "didFinishLaunching"
        }
    }
}
