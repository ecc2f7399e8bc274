// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import LinuxSupport
public import TagLink
import TextSafety

/// Everything that a session depends on: the reader, the time, the sheet, and the order of sessions.
///
/// A session uses the environment that is current when it is created: a test's task-local one, or else the process's
/// own.
public final class NFCEnvironment: Sendable {
    /// The reader, or the reason why there is none.
    public typealias Reader = AttachedReader

    /// The reader, or the reason why there is none.
    public let reader: Reader
    /// The clock for sessions.
    public let clock: any RuntimeClock
    /// The presenter of the scanning sheet.
    public let sheet: any ScanSheet
    /// Decides which session may use the reader.
    public let arbiter: SessionArbiter
    /// The time limits of a session.
    public let limits: SessionLimits
    /// The port for apps that are cards; nil when no app can be a card.
    package let cardPort: (any CardReaderPort)?
    /// What the app declares; nil to use the process's own declarations.
    public let app: AppProperties?
    /// Whether the environment belongs to a test. Then delegates and completion handlers are called within it, so that
    /// the sessions and tasks that they create belong to the test too.
    package let isOfTest: Bool
    /// The test kit's object for the test; nil outside its tests.
    package let testContext: (any TestContext)?
    /// Makes only one thread at a time act for the sessions of a test; nil outside tests.
    let lock: RecursiveLock?
    /// Asks the background service for the reader; nil when no service is asked.
    package let gate: (any ReaderSharing)?
    /// Is informed when a session has ended; nil when there is none.
    package let sessionEndObserver: (any SessionEndObserver)?
    /// The phone around the reader; nil for a reader alone.
    package let host: (any SessionHost)?

    private let onNotice: (@Sendable (String) -> Void)?
    /// The sentences that are reported only once.
    private let noticed = Locked<Set<String>>([])

    /// Creates an environment without a sheet, with its own order of sessions.
    ///
    /// - Parameters:
    ///   - reader: the reader, or the reason why there is none.
    ///   - clock: the clock for sessions.
    public convenience init(reader: Reader, clock: any RuntimeClock = SystemClock.shared) {
        self.init(reader: reader, clock: clock, isOfTest: false)
    }

    /// Creates an environment. Each argument sets the property of the same name.
    ///
    /// - Parameter onNotice: called with each line about the app that is written to standard error; on any thread.
    package init(
        reader: Reader,
        clock: any RuntimeClock = SystemClock.shared,
        sheet: any ScanSheet = HiddenSheet(),
        arbiter: SessionArbiter = SessionArbiter(),
        limits: SessionLimits = SessionLimits(),
        cardPort: (any CardReaderPort)? = nil,
        app: AppProperties? = nil,
        isOfTest: Bool,
        gate: (any ReaderSharing)? = nil,
        sessionEndObserver: (any SessionEndObserver)? = nil,
        host: (any SessionHost)? = nil,
        onNotice: (@Sendable (String) -> Void)? = nil,
        testContext: (any TestContext)? = nil
    ) {
        self.testContext = testContext
        self.reader = reader
        self.clock = clock
        self.sheet = sheet
        self.arbiter = arbiter
        self.limits = limits
        self.cardPort = cardPort
        self.app = app
        self.isOfTest = isOfTest
        lock = isOfTest ? RecursiveLock() : nil
        self.gate = gate
        self.sessionEndObserver = sessionEndObserver
        self.host = host
        self.onNotice = onNotice
    }

    /// The environment of a test, for the task that set it and its children.
    @TaskLocal public static var scoped: NFCEnvironment?

    /// The environment of the caller's test: the task's, or else the one that a test kit finds; nil outside tests.
    package static var ofTest: NFCEnvironment? { scoped ?? testKit.withLock { $0 }?.environmentOfCaller }

    /// The test kit of the process; nil outside its tests.
    package static let testKit = Locked<(any TestContext.Type)?>(nil)

    /// The reader's driver; nil when there is no reader.
    public var driver: (any ReaderDriver)? { reader.driver }

    /// Calls the app on its queue, within the environment if it belongs to a test. Without this, a block on a queue
    /// loses the task-local environment.
    package func call(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        guard isOfTest else { return queue.async(execute: work) }
        within {
            queue.async { self.within(work) }
        }
    }

    /// Runs code within the environment if it belongs to a test.
    func within<Value>(_ work: () throws -> Value) rethrows -> Value {
        guard isOfTest else { return try work() }
        return try NFCEnvironment.$scoped.withValue(self, operation: work)
    }

    /// Reports something to the app's author: in a test's trace, and as a line on standard error. A test without a test
    /// kit has no such line.
    package func notice(_ text: String, from source: String = "CoreNFC") {
        print(text, from: source)
        onNotice?(VisibleText.escaped(text))
    }

    /// Writes a line to standard error, unless it belongs to a test that does not print it.
    package func print(_ text: String, from source: String = "CoreNFC") {
        let text = VisibleText.escaped(text)
        guard testContext?.prints(text) ?? !isOfTest else { return }
        OutputDescriptor.standardError.write("\(source): \(text)\n")
    }

    /// Reports something that concerns the whole process, such as why there is no reader. Each sentence is reported
    /// once, even if several sessions end because of it.
    package func noticeOnce(_ text: String, from source: String = "CoreNFC") {
        if noticed.withLock({ $0.insert(text).inserted }) { notice(text, from: source) }
    }
}

/// Something that has work to do after each session of an environment, such as saving the files of its tags.
package protocol SessionEndObserver: AnyObject, Sendable {
    func sessionEnded()
}

/// The test kit's object for one test.
package protocol TestContext: AnyObject, Sendable {
    /// The environment of the test that the caller belongs to, when its task does not have it; nil when there is none.
    static var environmentOfCaller: NFCEnvironment? { get }

    /// The test's code has created an object or passed it to a session. The object should be freed when the test has
    /// ended.
    ///
    /// - Parameter object: keep only a weak reference to it.
    func made(_ object: AnyObject, as kind: MadeObject)

    /// The test's code connects to a tag. Performs what is planned for this moment.
    func willConnect()

    /// Returns whether a line about the app is also printed, and not only stored in the test's trace.
    func prints(_ notice: String) -> Bool
}

/// An object that should be freed when a test has ended.
package enum MadeObject: Sendable {
    case session, delegate, tag
}

/// What an app declares in its property list and in its entitlements, as data.
///
/// ```swift
/// AppProperties(
///     infoPlist: ["NFCReaderUsageDescription": "To read your ticket."],
///     entitlements: ["com.apple.developer.nfc.readersession.formats": ["TAG"]]
/// )
/// ```
public struct AppProperties: Sendable, Hashable {
    /// The value of a key: a text, a list of texts, or a flag.
    public struct Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
        ExpressibleByBooleanLiteral
    {
        /// The texts; empty for a flag that is not set.
        public var texts: [String]

        /// Creates a value.
        public init(_ texts: [String]) { self.texts = texts }
        public init(stringLiteral text: String) { texts = [text] }
        public init(arrayLiteral texts: String...) { self.texts = texts }
        public init(booleanLiteral isSet: Bool) { texts = isSet ? ["true"] : [] }
    }

    /// The property list; nil when the app has none. Then no entry is required.
    public var infoPlist: [String: Value]?
    /// The entitlements; nil when the app has none. Then no entry is required.
    public var entitlements: [String: Value]?
    /// Whether a missing entry ends the process, and a missing list counts as an empty one.
    public var isStrict: Bool

    /// Creates the declarations of an app.
    ///
    /// - Parameters:
    ///   - infoPlist: the property list.
    ///   - entitlements: the entitlements.
    ///   - isStrict: whether a missing entry ends the process.
    public init(infoPlist: [String: Value]? = nil, entitlements: [String: Value]? = nil, isStrict: Bool = false) {
        self.infoPlist = infoPlist
        self.entitlements = entitlements
        self.isStrict = isStrict
    }
}

/// Asks the background service to release the reader.
public protocol ReaderSharing: Sendable {
    /// Asks for the reader, and waits until the service has released it.
    ///
    /// - Returns: keeps the reader while it exists; nil when there is no service.
    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)?
}

/// Keeps the reader from the service while it exists.
public protocol ReaderClaim: AnyObject, Sendable {
    /// Reports tags that the app's session has found. The service does not offer them again if they are still near
    /// afterwards.
    func note(_ identifiers: [[UInt8]])
}

/// What an app needs the reader for.
public enum ReaderPurpose: UInt8, Sendable, Hashable {
    /// A reader session.
    case session = 0x52
    /// To act as a card.
    case card = 0x43
}

/// The phone around a reader, where there is one: it can withhold what a session needs, and shows what happens in it.
package protocol SessionHost: AnyObject, Sendable {
    /// What the phone withholds from a session that begins now.
    var withheld: SessionNeeds { get }

    /// Something has happened in an app's session. Returns at once.
    ///
    /// - Parameter session: the number of the session in this process.
    func note(_ event: SessionEvent, of session: Int)
}

/// What a session needs from the phone and from the app's declarations.
package struct SessionNeeds: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The radio, which can be switched off.
    package static let radio = SessionNeeds(rawValue: 1)
    /// A reader that nothing else of the system uses.
    package static let freeReader = SessionNeeds(rawValue: 1 << 1)
    /// The app's entitlement to read tags.
    package static let entitlement = SessionNeeds(rawValue: 1 << 2)
    /// The app's text that says why it reads tags.
    package static let usageText = SessionNeeds(rawValue: 1 << 3)

    /// Why a session that lacks these can't begin; nil when it can. Missing declarations have errors of their own.
    var end: SessionEnd? {
        if contains(.radio) { return .radioDisabled }
        return contains(.freeReader) ? .systemBusy : nil
    }
}

/// What happens in an app's session, for whoever shows it.
package enum SessionEvent: Sendable, Hashable {
    /// The app begins the session; its class.
    case began(String)
    /// The app looks for tags again.
    case restarted
    /// The app's delegate is called.
    case callback(name: String, detail: String)
    /// The session is over; the reason.
    case ended(String)
}
