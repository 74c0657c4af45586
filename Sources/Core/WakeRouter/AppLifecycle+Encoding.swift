import WakeModel

extension AppLifecycle: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(installed)
        writer.write(face)
        writer.write(stage)
        writer.write(optional: window)
        writer.write(tasks)
        writer.write(optional: taskBudgetEnds)
        writer.write(optional: relaunch)
        writer.write(leftForeground)
        writer.write(installedAt)
        writer.write(waiting)
        writer.write(held)
        writer.write(awaitingUnlock)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        self.init(
            installed: try reader.readBool(),
            face: try reader.read(),
            stage: try reader.read(),
            window: try reader.readOptional(),
            tasks: try reader.readArray(),
            taskBudgetEnds: try reader.readOptional(),
            relaunch: try reader.readOptional(),
            leftForeground: try reader.read(),
            installedAt: try reader.read(),
            waiting: try reader.readArray(),
            held: try reader.readArray(),
            awaitingUnlock: try reader.readArray()
        )
        guard face.state == stage.shown else { throw EncodingFault(.unknownValue, at: start) }
    }
}

extension AppLifecycle.Stage: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        switch self {
        case .notRunning: writer.write(byte: 0)
        case .launching(let state, let deadline, let bound):
            writer.write(byte: 1)
            writer.write(state)
            writer.write(deadline)
            writer.write(bound)
        case .inactive: writer.write(byte: 2)
        case .active: writer.write(byte: 3)
        case .leaving(let deadline):
            writer.write(byte: 4)
            writer.write(deadline)
        case .background: writer.write(byte: 5)
        case .freezing: writer.write(byte: 6)
        case .suspended: writer.write(byte: 7)
        case .ending(let state, let deadline, let end):
            writer.write(byte: 8)
            writer.write(state)
            writer.write(deadline)
            writer.write(end.cause)
            writer.write(end.code)
            writer.write(end.event)
        }
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .notRunning
        case 1: self = .launching(as: try reader.read(), deadline: try reader.read(), bound: try reader.read())
        case 2: self = .inactive
        case 3: self = .active
        case 4: self = .leaving(deadline: try reader.read())
        case 5: self = .background
        case 6: self = .freezing
        case 7: self = .suspended
        case 8:
            self = .ending(
                as: try reader.read(),
                deadline: try reader.read(),
                .init(cause: try reader.read(), code: try reader.readInt64(), event: try reader.read())
            )
        default: throw EncodingFault(.unknownValue, at: start)
        }
    }
}

extension AppLifecycle.Relaunch: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(event)
        writer.write(bound)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(event: try reader.read(), bound: try reader.read())
    }
}

extension AppLifecycle.Window: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(began)
        writer.write(ends)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(began: try reader.read(), ends: try reader.read())
    }
}

extension AppLifecycle.BackgroundTask: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(token)
        writer.write(expired)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(token: try reader.readUInt64(), expired: try reader.readBool())
    }
}

extension AppLifecycle.Waiting: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(event)
        writer.write(interest)
        writer.write(decision)
        writer.write(deferred)
        writer.write(undelivered)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            event: try reader.read(),
            interest: try reader.read(),
            decision: try reader.read(),
            deferred: try reader.readBool(),
            undelivered: try reader.readBool()
        )
    }
}

extension AppLifecycle.Held: ByteCoded {
    func encode(into writer: inout ByteWriter) {
        writer.write(event)
        writer.write(interest)
        writer.write(supersedes)
        writer.write(restarted)
    }

    init(from reader: inout ByteReader) throws(EncodingFault) {
        self.init(
            event: try reader.read(),
            interest: try reader.read(),
            supersedes: try reader.read(),
            restarted: try reader.readBool()
        )
    }
}
