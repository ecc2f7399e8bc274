// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import UserActivityReceiving

/// Receives the links of cards that were read in the background, as the app's delegate does on a phone.
///
/// Only one instance of the app at a time receives them. A visible instance replaces one in the background.
@MainActor
final class LinkReceiver: ApplicationDelegate {
    /// The name of the app's desktop entry.
    nonisolated static let desktopID = "org.opencorenfc.TagReader"

    /// The instance that receives the links.
    enum State: Equatable {
        case here
        /// Another instance; this one takes over when the other ends.
        case elsewhere
        /// No instance, for a reason.
        case nobody(reason: String)
    }

    private let reader: MessageReader
    private let isVisible: Bool
    private let show: (Int) -> Void
    private(set) var state = State.nobody(reason: "The app has just started.")

    /// - Parameters:
    ///   - reader: saves the messages.
    ///   - isVisible: whether a person sees this instance; if not, its messages are marked as new.
    ///   - show: shows the message with a number.
    init(_ reader: MessageReader, isVisible: Bool = true, show: @escaping (Int) -> Void) {
        self.reader = reader
        self.isVisible = isVisible
        self.show = show
    }

    /// Starts to receive links, unless another visible instance does.
    ///
    /// - Parameter onEnd: called on another thread when no more links can come.
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

    /// Takes over when the other instance has ended. Call it from time to time.
    ///
    /// - Returns: whether this instance receives the links from now on.
    func takeOver() async -> Bool {
        guard state == .elsewhere else { return false }
        // The bus may be slow, so it is not asked on the main thread.
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
        // An activity that does not come from a card has a message with one empty record.
        let message = userActivity.ndefMessagePayload
        guard let first = message.records.first, first.typeNameFormat != .empty else { return false }
        do {
            guard let number = try reader.receive(message, isNew: !isVisible) else { return false }
            show(number)
            return true
        } catch {
            // It stays in the inbox.
            complain(error.text)
            return false
        }
    }
}
