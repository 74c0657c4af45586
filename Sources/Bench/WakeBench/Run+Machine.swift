import WakeModel
import WakeSystem
import WakeUdev

/// This machine's power and network as the phone's (SYS-1).
final class PhoneOfMachine {
    let power: PowerSupplies
    let routes: NetworkRoutes
    private var ways: NetworkRoutes.Ways = []

    /// What ``RunOptions/phone`` asks for; nil where the scenario alone says what happens to the phone.
    init?(_ options: RunOptions, realTime: Bool, _ loop: EventLoop) throws(CommandFailure) {
        guard options.phone == .machine else { return nil }
        guard realTime else {
            throw CommandFailure(
                .usage,
                "--phone machine cannot be had in virtual time: two runs would differ",
                hint: "give --clock real"
            )
        }
        do throws(SystemError) {
            power = try PowerSupplies(loop: loop)
            routes = try NetworkRoutes(loop: loop)
        } catch {
            throw CommandFailure(.environment, "--phone machine: \(error.description)", hint: "leave it out")
        }
    }

    /// What of the phone does not follow this machine, in one line each.
    var notes: [String] {
        power.isExternal == nil
            ? ["this machine names no power supply: the scenario alone says when the phone is charged"] : []
    }

    /// Tells how the phone is now, where the scenario has it otherwise, and from then on what changes.
    func begin(from conditions: PhoneConditions, _ tell: @escaping (PhoneChange) -> Void) {
        if conditions.contains(.wifi) { ways.insert(.local) }
        if conditions.contains(.cellular) { ways.insert(.mobile) }
        var isExternal = conditions.contains(.externalPower)
        let tellPower = { [power] in
            guard let now = power.isExternal, now != isExternal else { return }
            isExternal = now
            tell(now ? .chargerConnected : .chargerDisconnected)
        }
        let tellRoutes = { [unowned self] in
            let changed = routes.ways.symmetricDifference(ways)
            ways = routes.ways
            if changed.contains(.local) { tell(ways.contains(.local) ? .wifiJoined : .wifiLeft) }
            if changed.contains(.mobile) { tell(ways.contains(.mobile) ? .cellularOn : .cellularOff) }
        }
        power.handler = tellPower
        routes.handler = tellRoutes
        tellPower()
        tellRoutes()
    }
}

extension Run {
    func hearMachine() {
        guard let machine else { return }
        let origin = names.intern("this machine")
        machine.begin(from: bench.router.conditions) { [unowned self] in bench.submit(.phone($0), origin: origin) }
    }
}

extension PhoneOfMachine {
    /// The line of `--phone machine`.
    static func examine() -> Doctor.Line {
        do throws(SystemError) { return line(try PowerSupplies.now, NetworkRoutes.now) } catch {
            return Doctor.Line(what: "phone machine", good: false, finding: error.description)
        }
    }

    static func line(_ supplies: [PowerSupplies.Supply], _ ways: NetworkRoutes.Ways) -> Doctor.Line {
        let named = supplies.map { supply in
            supply.name + (supply.isOnline.map { $0 ? " is online" : " is not online" } ?? " is no charger")
        }
        let isThere = supplies.contains { $0.isOnline != nil }
        let power = named.isEmpty ? "no power supply" : named.joined(separator: ", ")
        let alone = isThere ? "" : ": the scenario alone says when the phone is charged"
        let route =
            switch (ways.contains(.local), ways.contains(.mobile)) {
            case (true, true): "default routes over a network and over a modem"
            case (true, false): "a default route over a network"
            case (false, true): "a default route over a modem"
            case (false, false): "no default route, so the phone is on no network"
            }
        return Doctor.Line(what: "phone machine", good: isThere, finding: "\(power)\(alone); \(route)")
    }
}
