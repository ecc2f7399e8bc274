// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Foundation
import NFCRuntime
import TagLink

/// A reader session that finds tags by their technology, and works with them by commands of their own.
///
/// The session waits once tags were found, until ``restartPolling()``. It lasts 60 seconds at most and a connected tag
/// 20 seconds. A delegate that is isolated to the main actor needs `DispatchQueue.main` as the session's queue: with no
/// queue it is called on a queue of the session's own, as on a phone.
open class NFCTagReaderSession: NFCReaderSession {
    /// The technologies that a session looks for.
    public struct PollingOption: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// ISO/IEC 14443: MIFARE, NTAG, and cards with applications.
        public static let iso14443 = PollingOption(rawValue: 1 << 0)
        /// ISO/IEC 15693.
        public static let iso15693 = PollingOption(rawValue: 1 << 1)
        /// ISO/IEC 18092: FeliCa. The app has to list system codes.
        public static let iso18092 = PollingOption(rawValue: 1 << 2)
        /// ISO/IEC 14443 cards that take PACE, such as identity cards, and cards with an application of the app's list.
        /// Each card is asked for PACE first; one that takes it arrives as ``NFCTag/iso7816(_:)`` with nothing selected, and
        /// its ``NFCISO7816Tag/supportsPACE`` is true. With ``iso14443`` the other cards are found as well.
        public static let pace = PollingOption(rawValue: 1 << 3)

        static let known: PollingOption = [.iso14443, .iso15693, .iso18092, .pace]
    }

    /// What the session looks for from its beginning, and after ``restartPolling()``.
    private let search: TagSearch
    /// What it looks for now.
    private let current: Locked<TagSearch>
    /// The tags that the delegate was given last.
    private let found = Locked(HandedOver<[NFCTag]>([]))

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - pollingOption: the technologies to look for, at least one.
    ///   - delegate: hears of what is found; held weakly.
    ///   - queue: where the delegate and completion handlers are called; nil for a serial queue of the session's own.
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
        current = Locked(search)
        super.init(delegate: delegate, queue: queue) { _ in search.plan }
    }

    /// Creates a session that looks for a part of what the app lists.
    ///
    /// - Parameters:
    ///   - configuration: what to look for. Without a technology the session ends with `readerErrorInvalidParameter` when
    ///     it begins.
    ///   - delegate: hears of what is found; held weakly.
    ///   - queue: where the delegate and completion handlers are called; nil for a serial queue of the session's own.
    public init(
        configuration: Configuration,
        delegate: any NFCTagReaderSessionDelegate,
        queue: DispatchQueue? = nil
    ) {
        let search = TagSearch(configuration, in: .current)
        self.search = search
        current = Locked(search)
        super.init(delegate: delegate, queue: queue) { _ in search.plan }
    }

    override var request: AppConfiguration.Request? { request(for: search) }

    override var refusal: NFCReaderError? { search.refusal }

    override var hasApplicationList: Bool { current.withLock { $0.hasApplicationList } }

    /// What the app's configuration has to allow for a search.
    func request(for search: TagSearch) -> AppConfiguration.Request { search.request }

    /// The technologies that a session of this class may look for.
    var acceptedOptions: PollingOption { .known }

    private var tagDelegate: (any NFCTagReaderSessionDelegate)? {
        delegate as? any NFCTagReaderSessionDelegate
    }

    // MARK: Tags

    /// Looks for tags again. The ones found before can't be used any more.
    open func restartPolling() {
        current.withLock { $0 = search }
        runtime?.restartPolling()
    }

    /// Looks for tags again, by another configuration until polling is restarted the next time. The tags found before can't
    /// be used any more. Does nothing when the session is not active.
    ///
    /// - Parameter configuration: what to look for. Without a technology the session ends with
    ///   `readerErrorInvalidParameter`, and with `readerErrorSecurityViolation` when the app's property list or its
    ///   entitlements don't allow it.
    public func restartPolling(configuration: Configuration) {
        guard isReady else { return }
        var configuration = configuration
        configuration.pollingOption.formIntersection(acceptedOptions)
        let search = TagSearch(configuration, in: self.configuration)
        if let error = search.refusal ?? ConfigurationGate.error(for: request(for: search), in: self.configuration) {
            return end(with: error)
        }
        current.withLock { $0 = search }
        runtime?.restartPolling(with: search.plan)
    }

    /// The tag that is connected; nil when there is none, or it was lost.
    public var connectedTag: NFCTag? {
        guard let detected = runtime?.connectedTag else { return nil }
        return found.withLock { $0 }.value.first { $0.detected?.detected === detected }
    }

    /// Connects the session to a tag, makes sure that it is near, and disconnects the session from any other. A connection
    /// lasts 20 seconds at most; connecting to the connected tag again does not begin them anew.
    ///
    /// - Parameters:
    ///   - tag: a tag that this session found last; the object inside counts, not the value around it.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``:
    ///     `readerTransceiveErrorTagConnectionLost`, `readerTransceiveErrorSessionInvalidated`, or
    ///     `readerErrorInvalidParameter` when the tag is not one of this session's.
    @preconcurrency
    public func connect(to tag: NFCTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let runtime, let detected = tag.detected?.detected, detected.session === runtime else {
            let error = refusal(of: tag.detected)
            return environment.call(on: sessionQueue) { completionHandler(error) }
        }
        runtime.connect(to: detected) { [environment, sessionQueue] result in
            environment.call(on: sessionQueue) { completionHandler(result.readerError) }
        }
    }

    /// Connects the session to a tag, and disconnects it from any other. A connection lasts 20 seconds at most.
    ///
    /// - Parameter tag: a tag that this session found last; the object inside counts, not the value around it.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func connect(to tag: NFCTag) async throws {
        try await handedOver { continuation in
            connect(to: tag) { error in continuation.resume(with: error) }
        }
    }

    // MARK: Events

    override var delegateConformsHere: Bool { delegate.conforms(to: (any NFCTagReaderSessionDelegate).self) }

    override func didBecomeActive() {
        tagDelegate?.tagReaderSessionDidBecomeActive(self)
    }

    override func didDetect(_ tags: [DetectedTag]) {
        let search = current.withLock { $0 }
        for tag in tags { reportMissingApplication(of: tag, in: search) }
        let found = tags.compactMap { tag(for: $0) }.filter { !search.options.isDisjoint(with: $0.options) }.map(\.tag)
        self.found.withLock { [found = HandedOver(found)] in $0 = found }
        if found.isEmpty {
            // What a phone does not detect is not there: the session goes on looking.
            runtime?.restartPolling(skippingReported: true)
        } else {
            tagDelegate?.tagReaderSession(self, didDetect: found)
        }
    }

    override func didEnd(_ error: NFCReaderError) {
        found.withLock { $0 = HandedOver([]) }
        tagDelegate?.tagReaderSession(self, didInvalidateWithError: error)
    }
}
