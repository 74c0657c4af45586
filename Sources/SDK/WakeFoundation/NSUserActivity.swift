import Foundation
import WakeClient

/// What a user was doing, so that it can be continued on another device; this phone has none.
open class NSUserActivity: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var info: [AnyHashable: Any]?
    private var heading: String?
    private var page: URL?

    /// What kind of activity it is, in the words of the app.
    public let activityType: String

    /// An activity of a kind.
    public init(activityType: String) {
        self.activityType = activityType
        super.init()
    }

    /// A name for people.
    open var title: String? {
        get { lock.withLock { heading } }
        set { lock.withLock { heading = newValue } }
    }

    /// What is needed to go on.
    open var userInfo: [AnyHashable: Any]? {
        get { lock.withLock { info } }
        set { lock.withLock { info = newValue } }
    }

    /// The page that shows the same.
    open var webpageURL: URL? {
        get { lock.withLock { page } }
        set { lock.withLock { page = newValue } }
    }

    /// Adds to what is needed to go on.
    open func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        lock.withLock { info = (info ?? [:]).merging(otherDictionary) { $1 } }
    }

    /// Does nothing, and says so once on stderr: no other device takes it up.
    open func becomeCurrent() {
        notDecided("NSUserActivity.becomeCurrent: there is no other device, nobody goes on with an activity")
    }
    /// Does nothing: it never was current.
    open func resignCurrent() {}
    /// Does nothing: nobody else has it.
    open func invalidate() {}
}

/// The kind of the activity that opens a page.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"
