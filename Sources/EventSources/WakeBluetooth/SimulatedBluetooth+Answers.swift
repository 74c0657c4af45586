import WakeDevices
import WakeModel

/// Peripherals that answer writes and reads as their files say, and what the MTU does to values.
extension SimulatedBluetooth {
    /// The failure that a peripheral answers a request with; nil where it grants it. Values that it sets are set.
    func reaction(
        of index: Int,
        to request: BluetoothAnswerMachine.Request,
        on place: Int,
        at now: Instant
    ) -> BluetoothFailure? {
        let first = peripherals[index].firstCharacteristic
        let reply = peripherals[index].machine.answer(request, of: place, at: now) { [characteristics] in
            !characteristics[first + $0].subscribers.isEmpty
        }
        if reply.error == nil, case .write(let value) = request { characteristics[first + place].value = value }
        for effect in reply.effects { carryOut(effect, of: index, at: now) }
        planAnswers(of: index)
        return reply.error.map {
            BluetoothFailure(domain: .att, code: Int32($0), message: AttributeErrorName.message(of: $0))
        }
    }

    /// Plans the next thing that a peripheral does of its own after a request.
    func planAnswers(of index: Int) {
        peripherals[index].answerGeneration &+= 1
        guard let due = peripherals[index].machine.nextDue else { return }
        plan(.reaction, index, peripherals[index].answerGeneration, due)
    }

    /// What is out of range waits, and is sent when the packets come again.
    func answersDue(_ index: Int, generation: UInt32, at now: Instant) {
        guard peripherals[index].answerGeneration == generation, peripherals[index].inRange else { return }
        let first = peripherals[index].firstCharacteristic
        let link = peripherals[index].linkGeneration
        let effects = peripherals[index].machine.advance(to: now) { [characteristics] in
            !characteristics[first + $0].subscribers.isEmpty
        }
        planAnswers(of: index)
        for effect in effects where peripherals[index].linkGeneration == link { carryOut(effect, of: index, at: now) }
    }

    private func carryOut(_ effect: BluetoothAnswerMachine.Effect, of index: Int, at now: Instant) {
        let first = peripherals[index].firstCharacteristic
        switch effect {
        case .set(let place, let value): characteristics[first + place].value = value
        case .send(let place, let value, _, let line):
            characteristics[first + place].value = value
            guard reachable(first + place) else {
                let (name, uuid) = (peripherals[index].name, peripherals[index].attributes.characteristics[place].uuid)
                missed?("\(name) answers with \(uuid) \(value.hexadecimal): nobody is subscribed", nil, now)
                return
            }
            let origin = peripherals[index].answerOrigins[line] ?? origin
            if let sent = notification(of: first + place, value, origin: origin, at: now) { report?(sent) }
            countNotification(of: index, at: now)
        case .disconnect(let line):
            let origin = peripherals[index].answerOrigins[line] ?? self.origin
            linkDown(index, because: .peripheralDisconnected, origin: origin, at: now)
        }
    }

    // MARK: The MTU

    /// How many requests an operation takes: a value that is too long for one is read and written in pieces.
    func requests(for operation: BluetoothOperation, on index: Int) -> Int {
        let mtu = peripherals[index].description.mtu
        switch operation {
        case .read:
            guard let place = place(reachedBy: operation, on: index) else { return 1 }
            let length = characteristics[peripherals[index].firstCharacteristic + place].value.count
            // A value that fills its response may have more.
            return length / (mtu - 1) + 1
        case .write(_, let value, true) where value.count > mtu - 3:
            return (value.count + mtu - 6) / (mtu - 5) + 1
        default: return 1
        }
    }
}
