// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

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
