import WakeModel

/// What real apps must know of the peripheral end.
extension Run {
    func maximumUpdateLength(of central: NameID) -> UInt16 {
        bench.peripheralRole?.maximumUpdateLength(of: central) ?? 20
    }

    func updateRoom(of app: AppID, manager: ManagerNumber) -> (room: Int, turn: UInt64) {
        guard let client = bench.router.client(of: app, manager: manager), let end = bench.peripheralRole else {
            return (.max, bench.sequence)
        }
        return (end.updateRoom(of: client), bench.sequence)
    }
}
