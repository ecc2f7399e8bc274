// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import UserActivityReceiving

/// Receives links from cards that were read in the background, like the app delegate on a phone.
///
/// Only one instance of the app receives links at a time. A visible instance replaces a background instance.
@MainActor
final class LinkReceiver: ApplicationDelegate {
    /// The name of the app's desktop entry.
    nonisolated static let desktopID = "org.opencorenfc.TagReader"

    /// Which instance receives the links.
    enum State: Equatable {
        case here
        /// Another instance receives the links. This instance takes over when the other ends.
        case elsewhere
        /// No instance receives links, for the given reason.
        case nobody(reason: String)
    }

    private let reader: MessageReader
    private let isVisible: Bool
    private let show: (Int) -> Void
    private(set) var state = State.nobody(reason: "The app has just started.")
    private var lastCheck = ContinuousClock.now

    /// `show` displays the message with the given number. If this instance is not visible, messages are marked as new.
    init(_ reader: MessageReader, isVisible: Bool = true, show: @escaping (Int) -> Void) {
        self.reader = reader
        self.isVisible = isVisible
        self.show = show
    }

    /// Starts to receive links, unless another visible instance does. `onEnd` is called on another thread when no more
    /// links can arrive.
    func begin(onEnd: @escaping @Sendable () -> Void = {}) {
        Application.shared.delegate = self
        do {
            try Application.shared.listen(
                as: Self.desktopID,
                presence: isVisible ? .visible : .background,
                onEnd: onEnd
            )
            state = .here
        } catch {
            state = Application.isRunning(as: Self.desktopID) ? .elsewhere : .nobody(reason: "\(error)")
        }
    }

    /// Takes over if the other instance has ended. Checks at most every two seconds. Returns whether this instance now
    /// receives the links.
    func takeOver() async -> Bool {
        guard state == .elsewhere, lastCheck.duration(to: .now) > .seconds(2) else { return false }
        lastCheck = .now
        // The bus may be slow, so the check runs off the main thread.
        let isTaken = await Task.detached { Application.isRunning(as: Self.desktopID) }.value
        guard !isTaken, state == .elsewhere else { return false }
        begin()
        return state == .here
    }

    // MARK: ApplicationDelegate

    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool {
        guard userActivity.activityType == NSUserActivityTypeBrowsingWeb else { return false }
        // If an activity does not come from a card, its message has a single empty record.
        let message = userActivity.ndefMessagePayload
        guard let first = message.records.first, first.typeNameFormat != .empty else { return false }
        do {
            for number in try reader.store.append([message], from: .background, isNew: !isVisible) { show(number) }
            return true
        } catch {
            // The message stays in the inbox.
            complain(error.text)
            return false
        }
    }
}
