// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// What an app does with a link that the system read from a tag.

enum OpenedLink: Equatable {
    case page(URL, records: Int)
    case tagWithoutLink
    case nothing
}

func openedLink(_ activity: NSUserActivity) -> OpenedLink {
    guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return .nothing }
    let message = activity.ndefMessagePayload
    guard message.records.count > 0, message.records[0].typeNameFormat != .empty else { return .nothing }
    guard let url = activity.webpageURL else { return .tagWithoutLink }
    return .page(url, records: message.records.count)
}

// An app that is a card: it answers a reader's APDUs.

func runLoyaltyCard(answering answer: @Sendable (Data) -> Data) async throws -> [String] {
    guard NFCReaderSession.readingAvailable, CardSession.isSupported, await CardSession.isEligible else {
        return ["unavailable"]
    }
    let assertion = try await NFCPresentmentIntentAssertion.acquire()
    let session = try await CardSession()
    session.alertMessage = "Ready."
    var log: [String] = []
    for try await event in session.eventStream {
        switch event {
        case .sessionStarted:
            log.append("started \(assertion.isValid)")
        case .readerDetected:
            log.append("reader")
            if await !session.isEmulationInProgress { try await session.startEmulation() }
        case .received(let apdu):
            log.append("apdu")
            do {
                try await apdu.respond(response: answer(apdu.payload))
            } catch let error as CardSession.Error where error == .transmissionError {
                log.append("retry")
            }
        case .readerDeselected:
            log.append("gone")
            await session.stopEmulation(status: .success)
            session.invalidate()
        case .sessionInvalidated(let reason):
            log.append("ended \(reason)")
        }
    }
    return log
}
