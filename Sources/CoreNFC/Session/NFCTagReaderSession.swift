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
open class NFCTagReaderSession: NFCReaderSession, @unchecked Sendable {
    // Sendable because what changes is locked.

    /// The technologies that a session looks for.
    public struct PollingOption: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// ISO/IEC 14443: MIFARE, NTAG, and cards with applications. At the most one of ``iso14443`` and ``pace``.
        public static let iso14443 = PollingOption(rawValue: 1 << 0)
        /// ISO/IEC 15693.
        public static let iso15693 = PollingOption(rawValue: 1 << 1)
        /// ISO/IEC 18092: FeliCa. The app has to list system codes.
        public static let iso18092 = PollingOption(rawValue: 1 << 2)
        /// Cards that are found by PACE, such as identity cards. Can't be joined with others.
        public static let pace = PollingOption(rawValue: 1 << 3)

        static let known: PollingOption = [.iso14443, .iso15693, .iso18092, .pace]
    }

    let pollingOption: PollingOption
    private let connected = Locked<NFCTag?>(nil)

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - pollingOption: the technologies to look for, at least one.
    ///   - delegate: hears of what is found; held weakly.
    ///   - queue: where the delegate and completion handlers are called; nil for a serial queue of the session's own.
    /// - Returns: nil when no technology is given, or ``PollingOption/pace`` is joined with another.
    public init?(
        pollingOption: PollingOption,
        delegate: any NFCTagReaderSessionDelegate,
        queue: DispatchQueue? = nil
    ) {
        let known = pollingOption.intersection(.known)
        guard !known.isEmpty, !known.contains(.pace) || known == .pace else { return nil }
        self.pollingOption = known
        super.init(delegate: delegate, queue: queue) { known.plan(for: $0) }
    }

    init(options: PollingOption, delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue?) {
        pollingOption = options
        super.init(delegate: delegate, queue: queue) { options.plan(for: $0) }
    }

    override var request: AppConfiguration.Request? {
        .tags(feliCa: pollingOption.contains(.iso18092), pace: pollingOption.contains(.pace))
    }

    private var tagDelegate: (any NFCTagReaderSessionDelegate)? {
        delegate as? any NFCTagReaderSessionDelegate
    }

    // MARK: Tags

    /// Looks for tags again. The ones found before can't be used any more.
    open func restartPolling() {
        runtime?.restartPolling()
    }

    /// The tag that is connected; nil when there is none, or it was lost.
    public var connectedTag: NFCTag? {
        guard let tag = connected.withLock({ $0 }), let runtime, let detected = runtime.connectedTag,
            tag.detected?.detected === detected
        else { return nil }
        return tag
    }

    /// Connects the session to a tag, and disconnects it from any other. A connection lasts 20 seconds at most.
    ///
    /// - Parameters:
    ///   - tag: a tag that this session found last; the object inside counts, not the value around it.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``:
    ///     `readerTransceiveErrorTagConnectionLost`, `readerTransceiveErrorSessionInvalidated`, or
    ///     `readerErrorInvalidParameter` when the tag is not one of this session's.
    public func connect(to tag: NFCTag, completionHandler: @escaping ((any Error)?) -> Void) {
        let handler = ErrorHandler(completionHandler)
        guard let runtime, let detected = tag.detected?.detected, detected.session === runtime else {
            let error = NFCReaderError(.readerErrorInvalidParameter, reason: "The tag was not found by this session.")
            return environment.call(on: sessionQueue) { handler.call(error) }
        }
        runtime.connect(to: detected) { [self] result in
            if case .success = result { connected.withLock { $0 = tag } }
            environment.call(on: sessionQueue) { handler.call(result.readerError) }
        }
    }

    /// Connects the session to a tag, and disconnects it from any other. A connection lasts 20 seconds at most.
    ///
    /// - Parameter tag: a tag that this session found last; the object inside counts, not the value around it.
    /// - Throws: ``NFCReaderError`` as the form with a completion handler.
    public func connect(to tag: NFCTag) async throws {
        try await handedOver { continuation in
            connect(to: tag) { error in continuation.resume(with: error) }
        }
    }

    // MARK: Events

    override func didBecomeActive() {
        tagDelegate?.tagReaderSessionDidBecomeActive(self)
    }

    override func didDetect(_ tags: [DetectedTag]) {
        let found = tags.compactMap { tag(for: $0) }.filter { pollingOption.finds($0.option) }.map(\.tag)
        if found.isEmpty {
            // What a phone does not detect is not there: the session goes on looking.
            runtime?.restartPolling(skippingReported: true)
        } else {
            tagDelegate?.tagReaderSession(self, didDetect: found)
        }
    }

    override func didEnd(_ error: NFCReaderError) {
        connected.withLock { $0 = nil }
        tagDelegate?.tagReaderSession(self, didInvalidateWithError: error)
    }
}

extension NFCTagReaderSession.PollingOption {
    /// Whether a session with these options reports tags that another option finds: PACE is for ISO/IEC 14443 cards.
    func finds(_ option: NFCTagReaderSession.PollingOption) -> Bool {
        contains(option) || self == .pace && option == .iso14443
    }

    /// What a session with these options looks for.
    func plan(for configuration: AppConfiguration) -> PollingPlan {
        var technologies: Set<Technology> = []
        if contains(.iso14443) || contains(.pace) { technologies.formUnion([.nfcA, .nfcB]) }
        if contains(.iso15693) { technologies.insert(.nfcV) }
        if contains(.iso18092) { technologies.insert(.nfcF) }
        let systemCodes = configuration.systemCodes.compactMap { UInt16($0, radix: 16) }
        // An app without a property list has no list to go by: any system will do.
        let isUnlisted = configuration.infoPlist == nil && !configuration.isStrict
        return PollingPlan(
            technologies: technologies,
            systemCodes: systemCodes.isEmpty && isUnlisted ? [0xFFFF] : systemCodes,
            opensCards: true,
            applications: configuration.selectIdentifiers.compactMap { Data(hex: $0).map { [UInt8]($0) } }
        )
    }
}
