import WakeModel
import WakePorts
import WakeWire

extension BluetoothArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        switch notice {
        case .managerState(let manager, let state): host.managerState(manager, state, to: app)
        case .restore(let manager, let state): host.restore(manager, state, to: app)
        case .restorePeripheral(let manager, let state): host.restorePeripheral(manager, state, to: app)
        default: break
        }
    }
}

/// The managers of real apps that are centrals.
extension ProcessAppHost {
    fileprivate func managerState(_ manager: ManagerNumber, _ state: BluetoothState, to app: AppID) {
        let word = WireTranslation.radioState(state)
        let isPeripheral = isPeripheralManager(manager, of: app)
        let body: WireDeliveryBody = isPeripheral ? .peripheralManager(.state(word)) : .centralState(word)
        let name = isPeripheral ? "peripheralManagerDidUpdateState" : "centralManagerDidUpdateState"
        send(to: app, owing: .nothing(.none), named: name, decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: body))
        }
    }

    fileprivate func restore(_ manager: ManagerNumber, _ state: RestoredState, to app: AppID) {
        let restoration = translation.restoration(state) { surroundings?.view.radio.knownPeripheral($0) }
        send(to: app, owing: .nothing(.none), named: "willRestoreState", decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: .centralWillRestore(restoration)))
        }
    }
}
