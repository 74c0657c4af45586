import WakeCaptures
import WakeDevices
import WakeModel

/// What the centrals do, step by step.
extension SimulatedPeripheralRole {
    /// What a central has to do at this instant.
    func goOn(_ index: Int, at now: Instant) {
        if centrals[index].lossDue <= now {
            linkDown(index, because: .timeout, at: now)
        } else if centrals[index].due <= now {
            act(index, at: now)
        } else {
            valueArrived(index, at: now)
        }
    }

    private func act(_ index: Int, at now: Instant) {
        switch centrals[index].activity {
        case .done: break
        case .pausing: begin(index, at: now)
        case .searching:
            sayGivenUp(index, at: now)
            if case .connect(let service, let within?)? = centrals[index].action {
                tellWait(within, "\(service), which nobody advertised", index, at: now)
            }
            // Nothing that needs the link comes before it is there.
            finishStep(index, at: now)
            centrals[index].step = centrals[index].stepAfterLoss
        case .connecting: linkUp(index, at: now)
        case .asking: ask(index, at: now)
        case .awaitingAnswer(let request, _):
            requests[request] = nil
            linkDown(index, at: now)
        case .hearing(let answer, _): hear(answer, index, at: now)
        case .awaitingValues:
            if case .awaitValues(let uuid, let count, let within?)? = centrals[index].action {
                let came = centrals[index].received[uuid, default: 0]
                tellWait(within, "\(count) of \(uuid), \(came) came", index, at: now)
            }
            finishStep(index, at: now)
        case .exchanging:
            if case .exchange(let psm, let value, let within?)? = centrals[index].action {
                tellWait(within, "\(bytes(of: value, over: psm)), \(exchanged(index)) came", index, at: now)
            }
            endExchange(index, "gave up channel", at: now)
        }
    }

    private func bytes(of value: [UInt8], over psm: UInt16) -> String {
        "\(value.count) \(value.count == 1 ? "byte" : "bytes") over channel \(psm)"
    }

    /// How many bytes came back over a central's channel.
    private func exchanged(_ index: Int) -> Int { centrals[index].channel?.received.count ?? 0 }

    private func tellWait(_ within: Instant.Span, _ what: String, _ index: Int, at now: Instant) {
        missed?("script of \(centrals[index].name): waited \(DurationText.words(within)) for \(what)", now)
    }

    func sayGivenUp(_ index: Int, at now: Instant) {
        if case .connect(let service, _)? = centrals[index].action { say(index, "gave up \(service)", at: now) }
    }

    /// The step is over, or the order; what is waited for before the next begins when it is.
    func finishStep(_ index: Int, waiting span: Instant.Span = .zero, at now: Instant) {
        if centrals[index].interruption != nil { return finishOrder(index, at: now) }
        centrals[index].step += 1
        centrals[index].activity = .pausing(until: now.advanced(by: span))
        takeOrder(index, at: now)
    }

    func begin(_ index: Int, at now: Instant) {
        guard let action = centrals[index].action else {
            if centrals[index].description.repeats {
                centrals[index].step = 0
                centrals[index].activity = .pausing(until: now)
            } else {
                centrals[index].activity = .done
                say(index, "finished", at: now)
            }
            return
        }
        switch action {
        case .wait(let span): finishStep(index, waiting: span, at: now)
        // An order was first.
        case .connect where centrals[index].isUp:
            if centrals[index].interruption != nil {
                missed?("connect \(centrals[index].name): it is connected already", now)
            }
            finishStep(index, at: now)
        case .connect(_, let within):
            let end = within.map { now.advanced(by: $0) } ?? .distantFuture
            centrals[index].activity = .searching(until: end)
            look(index, at: now)
            if centrals[index].interruption != nil { tellSearch(index, at: now) }
        case .disconnect:
            closeLink(index, at: now)
            finishStep(index, at: now)
        case .awaitValues(let uuid, let count, let within):
            let end = within.map { now.advanced(by: $0) } ?? .distantFuture
            centrals[index].activity = .awaitingValues(uuid, count: count, until: end)
            lookForValues(index, at: now)
        case .discover, .read, .write, .subscribe, .unsubscribe, .exchange:
            centrals[index].readSoFar = []
            centrals[index].activity = .asking(at: now.advanced(by: intervals(index, centrals[index].intervalsToAsk)))
        }
    }

    /// An order to connect may look for what nobody advertises.
    private func tellSearch(_ index: Int, at now: Instant) {
        guard case .searching = centrals[index].activity else { return }
        let central = centrals[index]
        let why =
            !poweredOn
            ? "Bluetooth is off" : central.inRange ? "nobody advertises it now" : "\(central.name) is out of range"
        missed?("\(words(index)): \(why), and it goes on looking", now)
    }

    /// What a central does, as lines have it: `read reader 2A38`.
    private func words(_ index: Int) -> String {
        let name = centrals[index].name
        return switch centrals[index].action {
        case .connect(let service, _)?: "connect \(name) \(service)"
        case .read(let uuid)?: "read \(name) \(uuid)"
        case .write(let uuid, _, _)?: "write \(name) \(uuid)"
        case .subscribe(let uuid, _)?: "subscribe \(name) \(uuid)"
        case .unsubscribe(let uuid)?: "unsubscribe \(name) \(uuid)"
        case .awaitValues(let uuid, _, _)?: "await \(name) \(uuid)"
        case .exchange(let psm, _, _)?: "exchange \(name) \(psm)"
        case .discover?: "discover \(name)"
        case .wait?, .disconnect?, nil: name
        }
    }

    /// What centrals look for or await now, with or without a bound, and how many orders they have not carried out, a line each;
    /// a script that begins again is never done.
    package var unfinished: [String] {
        centrals.indices.flatMap { index -> [String] in
            let central = centrals[index]
            let isOfOrder = central.interruption != nil
            guard central.phone == nil else { return [] }
            let who = isOfOrder ? central.name : "script of \(central.name)"
            let wait = isOfOrder || !central.description.repeats ? unfinishedWait(index).map { "\(who): \($0)" } : nil
            // The wait says of the order that has begun what came of it.
            let begun = isOfOrder && wait == nil ? 1 : 0
            return [wait, leftOut(begun + central.orders.count, index)].compactMap { $0 }
        }
    }

    private func unfinishedWait(_ index: Int) -> String? {
        switch (centrals[index].activity, centrals[index].action) {
        case (.searching, .connect(let service, _)?):
            return "still looks for \(service) at the end, which nobody advertises"
        case (.awaitingValues, .awaitValues(let uuid, let count, _)?):
            return "still awaits \(count) of \(uuid) at the end, \(centrals[index].received[uuid, default: 0]) came"
        case (.exchanging, .exchange(let psm, let value, _)?):
            return "still awaits \(bytes(of: value, over: psm)) at the end, \(exchanged(index)) came"
        default: return nil
        }
    }

    private func intervals(_ index: Int, _ count: Int) -> Instant.Span {
        Instant.Span(nanoseconds: centrals[index].description.interval.nanoseconds * Int64(count))
    }

    // MARK: Links

    /// Connects a central that looks for something that is advertised.
    func look(_ index: Int, at now: Instant) {
        let isHeard: Bool
        if case .connect(let service, _)? = centrals[index].action, let advertisement {
            let readsOverflow = centrals[index].description.readsOverflow
            isHeard = centrals[index].inRange && advertisement.offers(service, readsOverflow: readsOverflow)
        } else {
            isHeard = false
        }
        switch centrals[index].activity {
        case .searching(let end) where isHeard:
            let (low, high) = Self.connectLatency
            let wait = centrals[index].random.span(from: low, to: high)
            centrals[index].activity = .connecting(at: now.advanced(by: wait), givingUp: end)
        case .connecting(_, let end) where !isHeard:
            centrals[index].activity = .searching(until: end)
            takeOrder(index, at: now)
        default: break
        }
    }

    private func linkUp(_ index: Int, at now: Instant) {
        centrals[index].isUp = true
        traceLink(index, at: now)
        say(index, "connected", at: now)
        tellDone("connected", index, at: now)
        finishStep(index, at: now)
    }

    /// The link goes without the script having said so: what needs it is left out.
    func linkDown(_ index: Int, because reason: LinkEnd = .remoteTerminated, at now: Instant) {
        if case .connecting(_, let end) = centrals[index].activity {
            centrals[index].activity = .searching(until: end)
            takeOrder(index, at: now)
        }
        guard centrals[index].isUp else { return }
        closeLink(index, because: reason, at: now)
        leaveOutOrders(index, at: now)
        // Of a link that an order made the script knows nothing yet.
        if centrals[index].isInScriptedLink { leaveOutSteps(index, at: now) }
        takeOrder(index, at: now)
    }

    private func leaveOutSteps(_ index: Int, at now: Instant) {
        switch centrals[index].activity {
        // A pause goes on to its end.
        case .pausing(let until): centrals[index].activity = .pausing(until: max(now, until))
        case .done: return
        case .searching, .connecting, .asking, .awaitingAnswer, .hearing, .awaitingValues, .exchanging:
            centrals[index].activity = .pausing(until: now)
        }
        centrals[index].step = centrals[index].stepAfterLoss
    }

    private func closeLink(_ index: Int, because reason: LinkEnd = .remoteTerminated, at now: Instant) {
        guard centrals[index].isUp else { return }
        if centrals[index].phone == nil { traceEnd(of: index, because: reason, at: now) }
        centrals[index].isUp = false
        endPhoneLink(index, because: reason)
        centrals[index].channel = nil
        centrals[index].lossDue = .distantFuture
        let subscriptions = centrals[index].subscriptions
        centrals[index].subscriptions.removeAll()
        dropOutgoing(index, at: now) { _ in true }
        requests = requests.filter { $0.value.central != index }
        for subscription in subscriptions { prepareUnsubscribed(index, subscription, at: now) }
        say(index, "disconnected", at: now)
    }

    /// A value or an answer came: a central that is to hang up counts them.
    private func count(_ index: Int, at now: Instant) {
        guard let left = centrals[index].faults.disconnectAfter else { return }
        centrals[index].faults.disconnectAfter = left > 1 ? left - 1 : nil
        if left <= 1 { linkDown(index, at: now) }
    }

    // MARK: Asking

    /// What the step asks has reached the phone.
    private func ask(_ index: Int, at now: Instant) {
        traceQuestion(of: index, at: now)
        switch centrals[index].action {
        case .read(let uuid)?: read(uuid, index, at: now)
        case .write(let uuid, let value, let kind)?: write(value, to: uuid, kind, index, at: now)
        case .subscribe(let uuid, let indications)?: subscribe(uuid, indications: indications, index, at: now)
        case .unsubscribe(let uuid)?:
            for subscription in centrals[index].subscriptions where subscription.uuid == uuid {
                centrals[index].subscriptions.removeAll { $0 == subscription }
                dropOutgoing(index, at: now) { $0.subscription == subscription }
                prepareUnsubscribed(index, subscription, at: now)
            }
            reply(index, at: now)
        case .exchange(let psm, let value, let within)?: exchange(value, psm, within: within, index, at: now)
        case .discover?:
            for entry in attributes.published {
                let words = [entry.service.uuid] + entry.service.characteristics.map(\.uuid)
                say(index, "service \(words.joined(separator: " "))", at: now)
            }
            finishStep(index, at: now)
        case .wait?, .connect?, .awaitValues?, .disconnect?, nil: finishStep(index, at: now)
        }
    }

    /// The phone answers without asking an app.
    private func reply(_ index: Int, result: UInt8 = AttributeError.success, value: [UInt8] = [], at now: Instant) {
        traceAnswer(to: index, result, value, at: now)
        let answer = SimulatedCentral.Answer(result: result, value: value)
        centrals[index].activity = .hearing(answer, at: now.advanced(by: intervals(index, 1)))
    }

    private func read(_ uuid: String, _ index: Int, at now: Instant) {
        guard let member = attributes.characteristic(uuid) else { return miss(uuid, index, at: now) }
        let characteristic = member.characteristic
        guard characteristic.isReadable else {
            tellRefused("the app that publishes it does not let it be read", index, at: now)
            return reply(index, result: AttributeError.readNotPermitted, at: now)
        }
        let offset = centrals[index].readSoFar.count
        if let value = characteristic.value {
            if clients.notServing.contains(member.client) {
                tellRefused("the app that publishes it does not serve it now", index, at: now)
                return reply(index, result: AttributeError.unlikely, at: now)
            }
            let isBeyond = offset > value.count
            let result = isBeyond ? AttributeError.invalidOffset : AttributeError.success
            reply(index, result: result, value: isBeyond ? [] : Array(value[offset...]), at: now)
            return
        }
        let number = askApp(member, index, waits: true, at: now)
        let asked = event(.readRequested, member.client, characteristic.number, uuid, by: index, request: number)
        prepare(asked, .readRequest(offset: UInt16(clamping: offset)), at: now)
    }

    private func write(
        _ value: [UInt8],
        to uuid: String,
        _ kind: BluetoothCentral.WriteKind,
        _ index: Int,
        at now: Instant
    ) {
        guard let member = attributes.characteristic(uuid) else { return miss(uuid, index, at: now) }
        let waits = kind != .command
        guard member.characteristic.isWriteable(withResponse: waits) else {
            tellRefused("the app that publishes it does not let it be written so", index, at: now)
            if waits { return reply(index, result: AttributeError.writeNotPermitted, at: now) }
            // Nobody says that a command was not obeyed.
            say(index, "wrote \(uuid) \(value.hexadecimal)", at: now)
            return finishStep(index, at: now)
        }
        let number = askApp(member, index, waits: waits, at: now)
        let characteristic = member.characteristic.number
        let asked = event(.writeRequested, member.client, characteristic, uuid, by: index, request: number)
        // As from bluetoothd, the pieces of a prepared write arrive as one.
        let write = LocalWrite(characteristic: characteristic, offset: 0, value: value)
        prepare(asked, .writeRequests([write]), at: now)
        if !waits {
            say(index, "wrote \(uuid) \(value.hexadecimal)", at: now)
            tellDone("wrote \(uuid) \(value.hexadecimal)", index, at: now)
            finishStep(index, at: now)
        }
    }

    private func askApp(_ member: LocalAttributes.Member, _ index: Int, waits: Bool, at now: Instant) -> UInt32 {
        let number = mint()
        if waits {
            let characteristic = member.characteristic.number
            requests[number] = Request(client: member.client, characteristic: characteristic, central: index)
            let end = now.advanced(by: SimulatedCentral.transactionTimeout)
            centrals[index].activity = .awaitingAnswer(request: number, until: end)
        }
        return number
    }

    private func subscribe(_ uuid: String, indications: Bool, _ index: Int, at now: Instant) {
        guard let member = attributes.characteristic(uuid) else { return miss(uuid, index, at: now) }
        guard member.characteristic.flags.canNotify else {
            return miss(uuid, because: "the app that publishes it does not notify it", index, at: now)
        }
        let flags = member.characteristic.flags
        let subscription = SimulatedCentral.Subscription(
            client: member.client,
            characteristic: member.characteristic.number,
            uuid: uuid,
            indications: indications && flags.contains(.indicate) || !flags.contains(.notify)
        )
        let isNew = !centrals[index].subscriptions.contains { $0.uuid == uuid }
        centrals[index].subscriptions.removeAll { $0.uuid == uuid }
        centrals[index].subscriptions.append(subscription)
        centrals[index].received[uuid] = 0
        if isNew {
            let came = event(.centralSubscribed, member.client, subscription.characteristic, uuid, by: index)
            let length = UInt16(clamping: centrals[index].longestUpdate)
            prepare(came, .central(maximumUpdateLength: length), at: now)
        }
        reply(index, at: now)
    }

    private func miss(
        _ uuid: String,
        because why: String = "no app publishes it",
        _ index: Int,
        at now: Instant
    ) {
        say(index, "missing \(uuid)", at: now)
        tellRefused(why, index, at: now)
        finishStep(index, at: now)
    }

    /// An order is carried out; what a script does is told by what comes of it.
    private func tellDone(_ line: String, _ index: Int, at now: Instant) {
        guard centrals[index].interruption != nil else { return }
        carriedOut?("\(centrals[index].name): \(line)", now)
    }

    /// What a central does reaches no app.
    func tellRefused(_ why: String, _ index: Int, at now: Instant) {
        missed?("\(words(index)): \(why)", now)
    }

    // MARK: Answers

    /// An app answered, or cannot any more.
    func answer(_ number: UInt32, result: UInt8, value: [UInt8], at now: Instant) {
        guard let request = requests.removeValue(forKey: number) else { return }
        if centrals[request.central].phone != nil { return answer(request, result, value, at: now) }
        guard case .awaitingAnswer(number, _) = centrals[request.central].activity else { return }
        reply(request.central, result: result, value: value, at: now)
    }

    private func hear(_ answer: SimulatedCentral.Answer, _ index: Int, at now: Instant) {
        let piece = centrals[index].description.mtu - 1
        switch centrals[index].action {
        case .read(let uuid)?:
            let isFirst = centrals[index].readSoFar.isEmpty
            if answer.result == AttributeError.success {
                centrals[index].readSoFar += answer.value.prefix(piece)
                // A piece that fills its packet may not be the last; 512 bytes are the longest value there is.
                if answer.value.count >= piece, centrals[index].readSoFar.count < 512 {
                    centrals[index].activity = .asking(at: now.advanced(by: intervals(index, 1)))
                    return
                }
            }
            if answer.result == AttributeError.success || !isFirst {
                let line = "read \(uuid) \(centrals[index].readSoFar.hexadecimal)"
                say(index, line, at: now)
                tellDone(line, index, at: now)
            } else {
                say(index, "read \(uuid) error \(code(answer.result))", at: now)
            }
        case .write(let uuid, let value, _)?:
            let outcome = answer.result == AttributeError.success ? value.hexadecimal : "error \(code(answer.result))"
            say(index, "wrote \(uuid) \(outcome)", at: now)
            if answer.result == AttributeError.success { tellDone("wrote \(uuid) \(outcome)", index, at: now) }
        case .subscribe(let uuid, _)?:
            say(index, "subscribed \(uuid)", at: now)
            tellDone("subscribed \(uuid)", index, at: now)
        case .wait?, .connect?, .discover?, .unsubscribe?, .awaitValues?, .exchange?, .disconnect?, nil: break
        }
        finishStep(index, at: now)
        count(index, at: now)
    }

    private func code(_ result: UInt8) -> String { "0x" + result.hexadecimal }

    // MARK: Values

    /// Sends a value to the subscribed centrals that are meant.
    func update(
        _ characteristic: UInt32,
        of client: BluetoothClient,
        _ value: [UInt8],
        to wanted: [NameID],
        at now: Instant
    ) {
        let waiting = waiting(of: client)
        guard clients.hasRoom(client, beside: waiting) else { return }
        lastUpdate += 1
        var count = 0
        for index in centrals.indices where wanted.isEmpty || wanted.contains(centrals[index].nameID) {
            let subscription = centrals[index].subscriptions.first {
                $0.client == client && $0.characteristic == characteristic
            }
            guard let subscription else { continue }
            count += 1
            let cut = Array(value.prefix(centrals[index].longestUpdate))
            centrals[index].outgoing.append(.init(update: lastUpdate, subscription: subscription, value: cut))
            if centrals[index].outgoing.count == 1 { planArrival(index, after: now) }
        }
        guard count > 0 else { return }
        updates[lastUpdate] = Update(client: client, remaining: count)
        clients.tookRoom(client, beside: waiting)
    }

    /// Four notifications fit into a connection interval; an indication and its confirmation take two.
    func planArrival(_ index: Int, after now: Instant) {
        guard let first = centrals[index].outgoing.first else {
            centrals[index].arrival = .distantFuture
            return
        }
        let interval = centrals[index].description.interval
        let usual =
            first.subscription.indications
            ? interval + interval : Instant.Span(nanoseconds: interval.nanoseconds / 4)
        centrals[index].arrival = now.advanced(by: max(usual, centrals[index].faults.slowness ?? .zero))
    }

    private func valueArrived(_ index: Int, at now: Instant) {
        guard let first = centrals[index].outgoing.first else { return planArrival(index, after: now) }
        if centrals[index].phone != nil { return deliver(first, to: index, at: now) }
        if first.isStuck { return linkDown(index, at: now) }
        traceValue(first, to: index, isConfirmed: !centrals[index].faults.neverConfirms, at: now)
        let verb = first.subscription.indications ? "indicated" : "notified"
        say(index, "\(verb) \(first.subscription.uuid) \(first.value.hexadecimal)", at: now)
        if first.subscription.indications, centrals[index].faults.neverConfirms {
            centrals[index].outgoing[0].isStuck = true
            centrals[index].arrival = now.advanced(by: SimulatedCentral.transactionTimeout)
        } else {
            centrals[index].outgoing.removeFirst()
            settle(first.update, at: now)
            planArrival(index, after: now)
        }
        centrals[index].received[first.subscription.uuid, default: 0] += 1
        lookForValues(index, at: now)
        count(index, at: now)
    }

    /// Goes on when as many values have come as are waited for.
    func lookForValues(_ index: Int, at now: Instant) {
        guard case .awaitingValues(let uuid, let count, _) = centrals[index].activity,
            centrals[index].received[uuid, default: 0] >= count
        else { return }
        centrals[index].received[uuid, default: 0] -= count
        finishStep(index, at: now)
    }

    /// Values that will not arrive any more.
    func dropOutgoing(_ index: Int, at now: Instant, where gone: (SimulatedCentral.Outgoing) -> Bool) {
        let dropped = centrals[index].outgoing.filter(gone)
        guard !dropped.isEmpty else { return }
        let first = centrals[index].outgoing[0].update
        centrals[index].outgoing.removeAll(where: gone)
        for each in dropped { settle(each.update, at: now) }
        if centrals[index].outgoing.first?.update != first { planArrival(index, after: now) }
    }

    /// One central less waits for an update.
    func settle(_ number: UInt64, at now: Instant) {
        guard var update = updates[number] else { return }
        update.remaining -= 1
        updates[number] = update.remaining > 0 ? update : nil
        for client in clients.takeReady(waiting) { prepare(event(.readyToUpdate, client), at: now) }
    }
}
