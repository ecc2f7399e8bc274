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

    // MARK: The sheet after a scan or a cancelled one

    static let found = "The message is in your list."
    static let cancelled = "That was cancelled."
    static let notSaved = "The message was read, but couldn't be saved."

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
    static let arrivedBefore = "A message came from a card while this app was closed."
    static let linksElsewhere = "Another window takes the links of cards. This one shows them too."
    static let linksHere = "This window takes the links of cards now."
    static let cancelHint = "To cancel, use the Enter key."
    static let unavailableTitle = "Scanning Isn't Available"
    static let unavailable = "No reader was found. Connect one and start again."
    static let endedTitle = "Scanning Ended"
    static let unexpected = "Scanning ended unexpectedly. Check the reader and scan again."

    /// The alert for a session that ended by itself; nil for the ends that a person expects. Without a reader it is the
    /// reason, where the system gives one.
    static func alert(for error: NFCReaderError) -> String? {
        switch error.code {
        case .readerSessionInvalidationErrorFirstNDEFTagRead, .readerSessionInvalidationErrorUserCanceled:
            nil
        case .readerSessionInvalidationErrorSessionTimeout:
            "The time for scanning is over. Please scan again."
        case .readerSessionInvalidationErrorSystemIsBusy:
            "The reader is busy. Please wait a moment and scan again."
        case .readerErrorUnsupportedFeature:
            (error as NSError).localizedFailureReason ?? unavailable
        case .readerErrorSecurityViolation:
            "This app isn't allowed to scan. Check its settings and start again."
        case .readerErrorRadioDisabled:
            "The reader is switched off. Switch it on and scan again."
        case .readerSessionInvalidationErrorSessionTerminatedUnexpectedly:
            (error as NSError).localizedFailureReason ?? unexpected
        default:
            unexpected
        }
    }

    /// Whether a session ended because there is no reader, or it was lost.
    static func isWithoutReader(_ code: NFCReaderError.Code) -> Bool {
        code == .readerErrorUnsupportedFeature
            || code == .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
    }
}
