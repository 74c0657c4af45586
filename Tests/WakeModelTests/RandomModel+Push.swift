import WakeModel

extension SeededGenerator {
    mutating func pushRequest() -> PushRequest {
        switch below(9) {
        case 0: .register
        case 1: .unregister
        case 2: .registerCalls
        case 3: .unregisterCalls
        case 4: .fetched(number(), any())
        case 5: .reportCall
        case 6: .callBegan
        case 7: .callEnded
        default: .callHandled(number())
        }
    }

    mutating func push() -> Push {
        var push = Push()
        push.type = any()
        push.priority = any()
        push.expiration = flag() ? .at(instant()) : flag() ? .once : .none
        (push.isContentAvailable, push.isMutable, push.isNotification) = (flag(), flag(), flag())
        push.content = notificationContent()
        push.extensionMemory = number()
        (push.identifier, push.isCollapsible, push.size) = (name(), flag(), number())
        return push
    }
}
