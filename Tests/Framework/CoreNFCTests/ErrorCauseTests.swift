// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import TagLink
import TagProtocols
import Testing

@testable import CoreNFC

/// Checks which error an app gets for each event of its session or tag.
@Suite struct `Errors by their causes` {
    private static func reason(_ error: NFCReaderError) -> String? {
        error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
    }

    @Test(
        arguments: [
            (SessionEnd.userCanceled, 200, nil), (.timeout, 201, nil), (.systemBusy, 203, nil),
            (.firstMessageRead, 204, nil),
            (.terminatedUnexpectedly(reason: "Gone."), 202, "Gone."),
            (.appInBackground, 202, "The app went to the background."),
            (.unsupported(reason: "Not here."), 1, "Not here."),
        ] as [(SessionEnd, Int, String?)]
    ) func `A session ends with the phone's code`(end: SessionEnd, code: Int, reason: String?) {
        let error = NFCReaderError(end)
        #expect(error.errorCode == code && Self.reason(error) == reason)
    }

    private static let tagErrors: [(TagError.Code, Int)] = [
        (.tagLost, 100), (.readOnly, 400), (.messageTooLong, 402), (.updateFailed, 401), (.keyNeeded, 401),
        (.cancelled, 103),
        (.unsupported, 1), (.readerUnavailable, 100), (.noCapabilityContainer, 102), (.noMessageTLV, 102),
        (.badVersion, 102),
        (.lengthOverrun, 102), (.badChecksum, 102), (.writeInProgress, 102), (.badAnswer, 102), (.refused, 102),
        (.readProtected, 102),
        (.authenticationFailed, 102),
    ]

    @Test(arguments: tagErrors.indices) func `A tag that fails has the phone's code, and says why`(index: Int) {
        let (cause, code) = Self.tagErrors[index]
        for error in [
            NFCReaderError(TagError(cause, "Why.")), NFCReaderError(CommandError.tag(TagError(cause, "Why."))),
        ] {
            #expect(error.errorCode == code && Self.reason(error) == "Why.")
            let isUnformatted = [
                .noCapabilityContainer, .noMessageTLV, .badVersion, .lengthOverrun, .badChecksum, .writeInProgress,
                .readProtected,
            ]
            .contains(cause)
            #expect((error.localizedDescription == "Tag Not NDEF formatted") == isUnformatted)
        }
    }

    @Test func `What the reader can't send is 105, and what it can't do is 1`() {
        for (link, code) in [(LinkError.Code.frameTooLong, 105), (.unsupported, 1)] {
            let error = NFCReaderError(TagError(.unsupported, "Why.", link: LinkError(link, "Why.")))
            #expect(error.errorCode == code && Self.reason(error) == "Why.")
        }
    }

    @Test(arguments: [(CommandError.sessionInvalidated, 103), (.notConnected, 104), (.tagUnavailable, 100)])
    func `A command that reaches no tag has the phone's code, and says what to do`(cause: CommandError, code: Int) {
        let error = NFCReaderError(cause)
        #expect(error.errorCode == code && Self.reason(error)?.hasSuffix(".") == true)
    }
}
