// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
import NFCSessions
import TagLink
import TagProtocols

/// A reader session that finds tags by their technology, so that the app can send them the technology's commands.
///
/// After the session has found tags, it stops polling until the app calls ``restartPolling()``. A session lasts at most
/// 60 seconds, and a connection at most 20 seconds. If the delegate is isolated to the main actor, pass
/// `DispatchQueue.main` as the session's queue, because otherwise the session calls the delegate on a queue of its own,
/// as on a phone.
open class NFCTagReaderSession: NFCReaderSession {
    /// The technologies that a session looks for.
    public struct PollingOption: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// ISO/IEC 14443: MIFARE, NTAG, and cards with applications.
        public static let iso14443 = PollingOption(rawValue: 1 << 0)
        /// ISO/IEC 15693.
        public static let iso15693 = PollingOption(rawValue: 1 << 1)
        /// ISO/IEC 18092: FeliCa. The app has to list system codes.
        public static let iso18092 = PollingOption(rawValue: 1 << 2)
        /// ISO/IEC 14443 cards that support PACE, such as identity cards, and cards with an application that the app
        /// lists. A card with PACE support is reported as ``NFCTag/iso7816(_:)`` without a selected application, and
        /// its ``NFCISO7816Tag/supportsPACE`` is true. Add ``iso14443`` to find other cards too.
        public static let pace = PollingOption(rawValue: 1 << 3)

        static let supported: PollingOption = [.iso14443, .iso15693, .iso18092, .pace]
    }

    /// The tags to look for at first, and after ``restartPolling()``.
    private let search: TagSearch
    private let currentSearch: Locked<TagSearch>
    private let lastTags = Locked(UncheckedSendableBox<[NFCTag]>([]))

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - pollingOption: the technologies to look for, at least one.
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: the queue for the delegate and completion handlers; nil for a serial queue that the session creates.
    /// - Returns: nil when no technology is given.
    @available(iOS, deprecated: 26.4, message: "Use init(configuration:delegate:queue) instead")
    public init?(
        pollingOption: PollingOption,
        delegate: any NFCTagReaderSessionDelegate,
        queue: DispatchQueue? = nil
    ) {
        let search = TagSearch(Configuration(pollingOption: pollingOption), in: .current)
        guard !search.options.isEmpty else { return nil }
        self.search = search
        currentSearch = Locked(search)
        super.init(delegate: delegate, queue: queue, plan: search.plan)
    }

    /// Creates a session that can limit polling to some of the ISO/IEC 7816 applications and FeliCa systems in the
    /// app's property list.
    ///
    /// - Parameters:
    ///   - configuration: the tags to look for. Without a technology, the session ends with
    ///     `readerErrorInvalidParameter` as soon as it begins.
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: the queue for the delegate and completion handlers; nil for a serial queue that the session creates.
    public init(
        configuration: Configuration,
        delegate: any NFCTagReaderSessionDelegate,
        queue: DispatchQueue? = nil
    ) {
        let search = TagSearch(configuration, in: .current)
        self.search = search
        currentSearch = Locked(search)
        super.init(delegate: delegate, queue: queue, plan: search.plan)
    }

    override var request: AppConfiguration.Request? { request(for: search) }

    override var refusal: NFCReaderError? { search.refusal }

    override var hasApplicationList: Bool { currentSearch.withLock { $0.hasApplicationList } }

    func request(for search: TagSearch) -> AppConfiguration.Request { search.request }

    /// The technologies that a session of this class may look for.
    var acceptedOptions: PollingOption { .supported }

    private var tagDelegate: (any NFCTagReaderSessionDelegate)? {
        delegate as? any NFCTagReaderSessionDelegate
    }

    // MARK: Tags

    /// Looks for tags again. The app can no longer use the tags found before.
    open func restartPolling() {
        currentSearch.withLock { $0 = search }
        noteRestart()
        runtime?.restartPolling()
    }

    /// Looks for tags again with another configuration, until the app restarts polling the next time. The app can no
    /// longer use the tags found before. Does nothing when the session is not active.
    ///
    /// - Parameter configuration: the tags to look for. The session ends with `readerErrorInvalidParameter` if no
    ///   technology is given, and with `readerErrorSecurityViolation` if the app's property list or entitlements don't
    ///   allow the request.
    public func restartPolling(configuration: Configuration) {
        guard isReady else { return }
        var configuration = configuration
        configuration.pollingOption.formIntersection(acceptedOptions)
        let search = TagSearch(configuration, in: self.configuration)
        if let error = search.refusal ?? self.configuration.error(for: request(for: search), in: environment) {
            return end(with: error)
        }
        currentSearch.withLock { $0 = search }
        noteRestart()
        runtime?.restartPolling(with: search.plan)
    }

    /// The connected tag; nil when no tag is connected, or the tag was lost.
    public var connectedTag: NFCTag? {
        guard let handle = runtime?.connectedTag else { return nil }
        return lastTags.withLock { $0 }.value.first { $0.object?.handle === handle }
    }

    /// Connects the session to a tag, checks that the tag is present, and disconnects any other tag. A connection lasts
    /// at most 20 seconds. Connecting to the connected tag again does not restart the 20 seconds.
    ///
    /// - Parameters:
    ///   - tag: one of the last tags that this session found, identified by the object inside the enum value.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``:
    ///     `readerTransceiveErrorTagConnectionLost`, `readerTransceiveErrorSessionInvalidated`, or
    ///     `readerErrorInvalidParameter` when this session did not find the tag.
    @preconcurrency
    public func connect(to tag: NFCTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        connect(object: tag.object, completionHandler)
    }

    /// The asynchronous form of ``connect(to:completionHandler:)``.
    public func connect(to tag: NFCTag) async throws {
        try await withCompletion { connect(to: tag, completionHandler: $0) }
    }

    // MARK: Events

    override var callbackName: String { "tagReaderSession" }

    override var delegateConformsHere: Bool { delegate.conforms(to: (any NFCTagReaderSessionDelegate).self) }

    override func didBecomeActive() { tagDelegate?.tagReaderSessionDidBecomeActive(self) }

    override func didDetect(_ tags: [ConnectableTag]) {
        let search = currentSearch.withLock { $0 }
        for tag in tags { reportMissingApplication(of: tag, in: search) }
        let found = tags.compactMap { tag(for: $0) }.filter { !search.options.isDisjoint(with: $0.options) }
        self.lastTags.withLock { [found = UncheckedSendableBox(found)] in $0 = found }
        if found.isEmpty {
            // Phones do not detect these tags, so polling continues.
            runtime?.restartPolling(skippingReported: true)
        } else {
            let count = found.count == 1 ? "1 tag" : "\(found.count) tags"
            noteCallback("tagReaderSession(_:didDetect:)", count)
            noteCallInTrace("tagReaderSession(_:didDetect:)", count)
            tagDelegate?.tagReaderSession(self, didDetect: found)
        }
    }

    override func didEnd(_ error: NFCReaderError) {
        lastTags.withLock { $0 = UncheckedSendableBox([]) }
        tagDelegate?.tagReaderSession(self, didInvalidateWithError: error)
    }
}

extension NFCTagReaderSession {
    /// The tags that a session looks for: technologies, and optionally a selection of the applications and systems in
    /// the app's property list.
    ///
    /// Not Sendable, as in Apple's SDK, because a client may declare this conformance itself.
    public struct Configuration {
        /// The technologies to look for, at least one.
        public var pollingOption: PollingOption

        /// The applications to look for on ISO/IEC 14443 cards, in order, in hexadecimal digits. Applications that are
        /// not in the property list are ignored. If empty, the session looks for all applications in the property list.
        public var iso7816SelectIdentifiers: [String]

        /// The FeliCa systems to look for, in order, in hexadecimal digits. Systems that are not in the property list
        /// are ignored. If empty, the session looks for all systems in the property list.
        public var feliCaSystemCodes: [String]

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - pollingOption: the technologies to look for.
        ///   - iso7816SelectIdentifiers: the applications to look for; empty for all in the property list.
        ///   - feliCaSystemCodes: the FeliCa systems to look for; empty for all in the property list.
        public init(
            pollingOption: PollingOption,
            iso7816SelectIdentifiers: [String] = [],
            feliCaSystemCodes: [String] = []
        ) {
            self.pollingOption = pollingOption
            self.iso7816SelectIdentifiers = iso7816SelectIdentifiers
            self.feliCaSystemCodes = feliCaSystemCodes
        }
    }
}

/// Receives the events of a tag reader session. All methods are called on the session's queue.
public protocol NFCTagReaderSessionDelegate: NSObjectProtocol {
    /// The session is active: the sheet is visible and the reader looks for tags. Called before any detection.
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession)

    /// The session has ended. Called once, after all other methods.
    ///
    /// - Parameters:
    ///   - session: the session. It can't begin again.
    ///   - error: the reason, an ``NFCReaderError``.
    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error)

    /// The session has found tags. Polling stops until the app calls ``NFCTagReaderSession/restartPolling()``.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - tags: the tags; connect to one before you send commands.
    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag])
}

/// A reader session for payment cards: it looks for ISO/IEC 14443 cards and reports them to an
/// ``NFCTagReaderSessionDelegate``.
///
/// On iOS, only eligible apps in some countries may use this session. On Linux, every app may use it, for testing.
open class NFCPaymentTagReaderSession: NFCTagReaderSession {
    /// Creates a session.
    public init(delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue? = nil) {
        super.init(configuration: Configuration(pollingOption: .iso14443), delegate: delegate, queue: queue)
    }

    override var acceptedOptions: PollingOption { .iso14443 }

    override func request(for search: TagSearch) -> AppConfiguration.Request { .payment }
}

/// The tags that a session looks for, computed from its configuration and the app's lists.
struct TagSearch: Sendable {
    var options: NFCTagReaderSession.PollingOption
    /// The applications, in order, in upper-case hexadecimal digits.
    var applications: [String]
    var hasApplicationList: Bool
    /// The polling plan for the reader.
    var plan: PollingPlan

    /// Combines a session's configuration with the app's lists.
    ///
    /// - Parameter app: the app's lists. Without a property list, all applications and systems are allowed.
    init(_ configuration: NFCTagReaderSession.Configuration, in app: AppConfiguration) {
        let isListed = app.infoPlist != nil || app.isStrict
        let options = configuration.pollingOption.intersection(.supported)
        let wanted = configuration.iso7816SelectIdentifiers
        let applications = Self.part(wanted, of: app.selectIdentifiers, isListed: isListed)
        let codes = Self.part(configuration.feliCaSystemCodes, of: app.systemCodes, isListed: isListed)
            .compactMap { UInt16($0, radix: 16) }
        self.options = options
        self.applications = applications
        hasApplicationList = isListed || !wanted.isEmpty
        var technologies: Set<Technology> = []
        if !options.isDisjoint(with: [.iso14443, .pace]) { technologies.formUnion([.nfcA, .nfcB]) }
        if options.contains(.iso15693) { technologies.insert(.nfcV) }
        if options.contains(.iso18092) { technologies.insert(.nfcF) }
        plan = PollingPlan(
            technologies: technologies,
            // An app without any list accepts every system.
            systemCodes: codes.isEmpty && !isListed && configuration.feliCaSystemCodes.isEmpty ? [0xFFFF] : codes,
            opensCards: true,
            applications: applications.compactMap { [UInt8](hexadecimal: $0.utf8) }.filter(Self.isName),
            findsPACE: options.contains(.pace)
        )
    }

    /// Returns the wanted entries of a list without duplicates, or the whole list if `wanted` is empty.
    private static func part(_ wanted: [String], of list: [String], isListed: Bool) -> [String] {
        if wanted.isEmpty { return list }
        var part: [String] = []
        for entry in wanted.map({ $0.uppercased() }) where !part.contains(entry) {
            if !isListed || list.contains(entry) { part.append(entry) }
        }
        return part
    }

    /// Returns whether bytes are a valid application name of 1 to 16 bytes (ISO/IEC 7816-4). A SELECT without a name
    /// would select the card's default application.
    private static func isName(_ bytes: [UInt8]) -> Bool { (1...16).contains(bytes.count) }

    var request: AppConfiguration.Request {
        .tags(feliCa: options.contains(.iso18092), pace: options.contains(.pace))
    }

    /// The error of a session without any technology to look for; nil for other sessions.
    var refusal: NFCReaderError? {
        guard options.isEmpty else { return nil }
        return NFCReaderError(
            .readerErrorInvalidParameter,
            reason: "The configuration names no technology to look for."
        )
    }
}

extension NFCReaderSession {
    func reportMissingApplication(of tag: ConnectableTag, in search: TagSearch) {
        guard tag.hasNoApplication else { return }
        let arrives = tag.target.technology == .nfcA && search.options.contains(.iso14443)
        mistakes.add(.noListedApplication(arrives: arrives))
    }
}
