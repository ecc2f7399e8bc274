// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// Everything that a person reads on the scanning sheet and in alerts.
///
/// The Human Interface Guidelines ask for the name of the object, whole sentences with a full stop, and none of the
/// technology's own words. Here the object is a card, and the device a reader on a desk.
enum Wording {
    // MARK: The sheet while it waits

    static let scan = "Hold the card near the reader to see its messages."
    static let scanAgain = "Hold another card near the reader."
    static let scanMany = "Hold each card near the reader, one after the other."
    static let scanNext = "That one is saved. Hold the next card near the reader."
    static let write = "Hold the card near the reader to save the message on it."
    static let writeAgain = "Hold another card near the reader to save the message on it."

    // MARK: The sheet after a scan

    static let found = "The message is in your list."

    // MARK: The sheet while and after a card is written

    static let moreThanOne = "More than one card was found. Please take away all but one."
    static let cannotConnect = "The reader couldn't connect to the card. Please try again."
    static let unknownStatus = "The reader couldn't examine the card. Please try again."
    static let notSupported = "This card can't hold messages. Please use another one."
    static let readOnly = "This card is locked and can't be changed. Please use another one."
    static let writeFailed = "The message couldn't be saved. Please try again."
    static let connectionLost = "The card left too early. Please hold it still and try again."
    static let written = "The message is saved on the card."

    static func tooSmall(needs size: Int, capacity: Int) -> String {
        "The message has \(size) bytes, but this card has room for \(capacity)."
    }

    // MARK: Notes and alerts

    static let arrived = "This message came from a card that was held near the reader."
    static let unavailableTitle = "Scanning Isn't Available"
    static let unavailable = "No reader was found. Connect one and start again."
    static let endedTitle = "Scanning Ended"

    /// The alert for a session that ended by itself; nil for the ends that a person expects.
    static func alert(for error: NFCReaderError) -> String? {
        switch error.code {
        case .readerSessionInvalidationErrorFirstNDEFTagRead, .readerSessionInvalidationErrorUserCanceled:
            nil
        case .readerSessionInvalidationErrorSessionTimeout:
            "The time for scanning is over. Please scan again."
        case .readerSessionInvalidationErrorSystemIsBusy:
            "The reader is busy. Please wait a moment and scan again."
        case .readerErrorUnsupportedFeature:
            unavailable
        case .readerErrorSecurityViolation:
            "This app isn't allowed to scan. Check its settings and start again."
        case .readerErrorRadioDisabled:
            "The reader is switched off. Switch it on and scan again."
        default:
            "Scanning ended unexpectedly. Check the reader and scan again."
        }
    }
}
