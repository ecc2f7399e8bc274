// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import LinuxSupport
public import TagLink
import TextSafety

/// What a session depends on: the reader, the clock, the scanning sheet, and the queue of sessions.
///
/// A session uses the environment that is current when the session is created: a test's task-local environment, or else
/// the environment of the process.
public final class NFCEnvironment: Sendable {
    /// A reader, or the reason why no reader is available.
    public typealias Reader = AttachedReader

    /// The reader, or the reason why no reader is available.
    public let reader: Reader
    /// The clock for sessions.
    public let clock: any RuntimeClock
    /// The presenter of the scanning sheet.
    public let sheet: any ScanSheet
    /// Decides which session may use the reader.
    public let arbiter: SessionArbiter
    /// The time limits of a session.
    public let limits: SessionLimits
    /// Connects apps that emulate cards to a reader; nil when card emulation is not supported.
    package let cardPort: (any CardReaderPort)?
    /// The app's property list and entitlements; nil to use the files of the process.
    public let app: AppProperties?
    /// Whether the environment belongs to a test. If so, delegates and completion handlers run with this environment as
    /// the current one, so that the sessions and tasks that they create belong to the test too.
    package let belongsToTest: Bool
    package let testContext: (any TestContext)?
    /// Lets only one thread at a time perform the actions of a test's sessions; nil outside tests.
    let lock: RecursiveLock?
    /// Asks the background service to release the reader; nil to use the reader without asking.
    package let gate: (any ReaderSharing)?
    /// Called when a session has ended; nil for no observer.
    package let sessionEndObserver: (any SessionEndObserver)?
    /// The simulated phone that contains the reader; nil for a reader without a phone.
    package let host: (any SessionHost)?

    /// Whether a MIFARE tag's negative acknowledgement of an app's own command is one byte of data, as two projects
    /// report. By default the tag is lost with error 100, as four reports say. The tag's positive acknowledgement is
    /// always data.
    public var deliversRefusals: Bool {
        get { refusals.withLock { $0 } }
        set { refusals.withLock { $0 = newValue } }
    }
    private let refusals = Locked(false)

    private let onNotice: (@Sendable (String) -> Void)?
    /// The sentences that ``noticeOnce(_:from:)`` has already reported.
    private let noticed = Locked<Set<String>>([])

    /// Creates an environment that shows no sheet and has its own queue of sessions.
    ///
    /// - Parameters:
    ///   - reader: the reader, or the reason why no reader is available.
    ///   - clock: the clock for sessions.
    public convenience init(reader: Reader, clock: any RuntimeClock = SystemClock.shared) {
        self.init(reader: reader, clock: clock, belongsToTest: false)
    }

    /// Creates an environment. Each argument sets the property of the same name.
    ///
    /// - Parameter onNotice: called on any thread, with each message for the app's author.
    package init(
        reader: Reader,
        clock: any RuntimeClock = SystemClock.shared,
        sheet: any ScanSheet = HiddenSheet(),
        arbiter: SessionArbiter = SessionArbiter(),
        limits: SessionLimits = SessionLimits(),
        cardPort: (any CardReaderPort)? = nil,
        app: AppProperties? = nil,
        belongsToTest: Bool,
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
        self.belongsToTest = belongsToTest
        lock = belongsToTest ? RecursiveLock() : nil
        self.gate = gate
        self.sessionEndObserver = sessionEndObserver
        self.host = host
        self.onNotice = onNotice
    }

    /// The environment of a test. It applies to the task that sets it, and to that task's children.
    @TaskLocal public static var scoped: NFCEnvironment?

    /// The environment of the caller's test: task-local, or else found by the test kit; nil outside tests.
    package static var ofTest: NFCEnvironment? { scoped ?? testKit.withLock { $0 }?.environmentOfCaller }

    /// The test kit that the process uses; nil when it uses none.
    package static let testKit = Locked<(any TestContext.Type)?>(nil)

    /// The reader's driver; nil when there is no reader.
    public var driver: (any ReaderDriver)? { reader.driver }

    /// Calls the app on its queue. In a test, the call runs with this environment as the current one, because a block
    /// on a queue does not inherit task-local values.
    package func call(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        guard belongsToTest else { return queue.async(execute: work) }
        within {
            queue.async { self.within(work) }
        }
    }

    func within<Value>(_ work: () throws -> Value) rethrows -> Value {
        guard belongsToTest else { return try work() }
        return try NFCEnvironment.$scoped.withValue(self, operation: work)
    }

    /// Reports a message to the app's author, in the test's trace and on standard error. A test that doesn't use the
    /// test kit prints nothing.
    package func notice(_ text: String, from source: String = "CoreNFC") {
        print(text, from: source)
        onNotice?(VisibleText.escaped(text))
    }

    /// Writes a line to standard error, unless the environment belongs to a test that suppresses the line.
    package func print(_ text: String, from source: String = "CoreNFC") {
        let text = VisibleText.escaped(text)
        let line = testContext.map { $0.line(for: text) } ?? (belongsToTest ? nil : text)
        if let line { OutputDescriptor.standardError.write("\(source): \(line)\n") }
    }

    /// Reports a problem of the whole process, such as a missing reader. Each sentence is reported only once, even if
    /// several sessions end for the same reason.
    package func noticeOnce(_ text: String, from source: String = "CoreNFC") {
        if noticed.withLock({ $0.insert(text).inserted }) { notice(text, from: source) }
    }
}

/// Called after each session of an environment, for example to save virtual tags to their files.
package protocol SessionEndObserver: AnyObject, Sendable {
    func sessionEnded()
}

package protocol TestContext: AnyObject, Sendable {
    /// The environment of the caller's test, for a caller that lacks the task-local value; nil outside tests.
    static var environmentOfCaller: NFCEnvironment? { get }

    /// The test's code has created this object or passed it to a session. The object should be freed by the end of the
    /// test.
    ///
    /// - Parameter object: keep only a weak reference to it.
    func made(_ object: AnyObject, as kind: MadeObject)

    /// Called just before the test's code connects to a tag. Triggers the faults that are planned for this moment.
    func willConnect()

    /// Returns the line to print for a message to the app's author, which is also stored in the test's trace; nil for
    /// no line.
    func line(for notice: String) -> String?

    /// Adds an event to the test's trace, such as a call of the app or of its delegate.
    func note(_ event: String)

    /// Ends the test with an error, because a phone would end the app now.
    ///
    /// - Returns: false when the test can't be ended.
    func end(because reason: String) -> Bool

    var isOpen: Bool { get }
}

package enum MadeObject: Sendable {
    case session, delegate, tag
}

/// The values that an app declares in its property list and entitlements.
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

    /// The property list; nil when the app has no property list. If nil, no entry is required.
    public var infoPlist: [String: Value]?
    /// The entitlements; nil when the app has no entitlements file. If nil, no entry is required.
    public var entitlements: [String: Value]?
    /// Whether a missing entry ends the process. If true, a missing list is treated as an empty list.
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
    /// Asks the service for the reader, and waits until the service has released the reader.
    ///
    /// - Returns: a claim that reserves the reader for as long as the claim exists; nil when no service runs.
    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)?
}

/// Reserves the reader: the background service does not use it while this object exists.
public protocol ReaderClaim: AnyObject, Sendable {
    /// Reports tags that the app's session has found. The service does not offer these tags again if they are still in
    /// the field after the session.
    func note(_ identifiers: [[UInt8]])
}

/// What an app needs the reader for.
public enum ReaderPurpose: UInt8, Sendable, Hashable {
    /// A reader session.
    case session = 0x52
    /// Card emulation.
    case card = 0x43
}

/// A simulated phone that contains the reader. It can deny a session what the session needs, and displays its events.
package protocol SessionHost: AnyObject, Sendable {
    /// The needs that the phone denies to a session that begins now.
    var withheld: SessionNeeds { get }

    /// Reports an event of an app's session. Returns at once.
    ///
    /// - Parameter session: the number of the session in this process.
    func note(_ event: SessionEvent, of session: Int)
}

/// What a session needs from the phone and from the app's declarations.
package struct SessionNeeds: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let radio = SessionNeeds(rawValue: 1)
    /// A reader that no other process uses.
    package static let freeReader = SessionNeeds(rawValue: 1 << 1)
    /// The app's entitlement to read tags.
    package static let entitlement = SessionNeeds(rawValue: 1 << 2)
    /// The app's usage description, which explains why the app reads tags.
    package static let usageText = SessionNeeds(rawValue: 1 << 3)

    /// Why a session that lacks these needs can't begin; nil when it can. Missing declarations cause other errors.
    var end: SessionEnd? {
        if contains(.radio) { return .radioDisabled }
        return contains(.freeReader) ? .systemBusy : nil
    }
}

package enum SessionEvent: Sendable, Hashable {
    /// The app began a session of this class.
    case began(String)
    case restarted
    /// A method of the app's delegate is called.
    case callback(name: String, detail: String)
    /// A call of the app on a tag has ended; reported before the app gets the result. `sent` and `received` are a
    /// message, or a command and its answer, and `error` is the error's code.
    case called(name: String, sent: [UInt8], received: [UInt8], error: Int?)
    /// The session ended for this reason.
    case ended(String)
}
