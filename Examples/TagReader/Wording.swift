// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// All text shown on the scanning sheet and in alerts.
///
/// The Human Interface Guidelines ask for the object's name, full sentences with a period, and no technical terms. Here
/// the object is a card, and the device is a desktop reader.
enum Wording {
    // MARK: Waiting for a card

    static let scan = "Hold the card near the reader to see its messages."
    static let scanAgain = "Hold another card near the reader."
    static let scanMany = "Hold each card near the reader, one after the other."
    static let scanNext = "Saved. Hold the next card near the reader."
    static let write = "Hold the card near the reader to save the message on it."

    // MARK: After a scan or cancellation

    static let found = "The message is in your list."
    static let cancelled = "That was cancelled."
    static let notSaved = "The message was read, but couldn't be saved."

    // MARK: Writing a card

    static let moreThanOne = "More than one card was found. Please remove all but one."
    static let cannotConnect = "The reader couldn't connect to the card. Please try again."
    static let unknownStatus = "The reader couldn't examine the card. Please try again."
    static let notSupported = "This card can't hold messages. Please use another one."
    static let readOnly = "This card is locked and can't be changed. Please use another one."
    static let writeFailed = "The message couldn't be saved. Please try again."
    static let connectionLost = "The card was removed too early. Please hold it still and try again."
    static let written = "The message is saved on the card."

    static func tooSmall(needs size: Int, capacity: Int) -> String {
        "The message has \(size) bytes, but this card has room for \(capacity)."
    }

    // MARK: Notes and alerts

    static let arrived = "This message came from a card that was held near the reader."
    static let arrivedBefore = "A message arrived from a card while this app was closed."
    static let linksElsewhere = "Another window receives card links. New messages appear here too."
    static let linksHere = "This window now receives card links."
    static let cancelHint = "To cancel, use the Enter key."
    static let unavailableTitle = "Scanning Isn't Available"
    static let unavailable = "No reader was found. Connect one and start again."
    static let endedTitle = "Scanning Ended"
    static let unexpected = "Scanning ended unexpectedly. Check the reader and scan again."

    /// Returns the alert text if a session ended because of an error; nil if it ended normally. Without a reader,
    /// returns the system's reason if available.
    static func alert(for error: NFCReaderError) -> String? {
        switch error.code {
        case .readerSessionInvalidationErrorFirstNDEFTagRead, .readerSessionInvalidationErrorUserCanceled:
            nil
        case .readerSessionInvalidationErrorSessionTimeout:
            "Scanning timed out. Please scan again."
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

    /// Whether a session ended because the reader is missing or was lost.
    static func meansNoReader(_ code: NFCReaderError.Code) -> Bool {
        code == .readerErrorUnsupportedFeature
            || code == .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
    }
}
