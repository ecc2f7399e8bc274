// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink
import TagProtocols
import Testing

@testable import CoreNFC  // the errors' causes are internal

/// `NFCReaderError` as clients look at it, and its code by its cause.
@Suite struct ReaderErrorTests {
    /// The texts of a phone, which clients compare.
    static let texts = """
        1 Feature not supported
        2 Missing required entitlement
        3 Invalid parameter
        4 Invalid parameter length
        5 Parameter value is out of bound
        6 NFC radio is disabled
        7 Device or user is not eligible
        8 Access not accepted by user
        100 Tag connection lost
        101 Maximum retries exceeded
        102 Tag response error / no response
        103 Session invalidated
        104 Tag is not connected
        105 Packet length has exceeded the limit
        200 Session invalidated by user
        201 Session timeout
        202 Session invalidated unexpectedly
        203 System resource unavailable
        204 First NDEF tag read
        300 Invalid configuration parameters
        400 NDEF tag is read only
        401 NDEF tag write failed
        402 Insufficient space on NDEF tag
        403 NDEF tag does not contain any NDEF message
        """

    @Test func `Error text: localizedDescription of each code is the phone's text; a text in userInfo replaces it`()
        throws
    {
        for line in Self.texts.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            let code = try #require(Int(parts[0]).flatMap { NFCReaderError.Code(rawValue: $0) }, "\(line)")
            #expect(NFCReaderError(code).localizedDescription == parts[1])
            #expect(NFCReaderError(code, userInfo: [:]).userInfo[NSLocalizedDescriptionKey] as? String == parts[1])
        }
        let own = NFCReaderError(.readerErrorInvalidParameter, userInfo: [NSLocalizedDescriptionKey: "Mine", "key": 7])
        #expect(own.localizedDescription == "Mine" && own.errorUserInfo["key"] as? Int == 7)
    }

    @Test func `NFCReaderError: matches by code and by catch pattern, and has the code, domain and text as NSError`() {
        func name(_ code: NFCReaderError.Code) -> String {
            do {
                throw NFCReaderError(code)
            } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
                return "lost"
            } catch let error as NFCReaderError where error.code == .readerTransceiveErrorTagNotConnected {
                return "not connected"
            } catch {
                let (swift, foundation) = (error as? NFCReaderError, error as NSError)
                let texts = [foundation.domain, foundation.localizedDescription]
                return "\(swift?.errorCode ?? 0) \(foundation.code) " + texts.joined(separator: ": ")
            }
        }
        #expect(name(.readerTransceiveErrorTagConnectionLost) == "lost")
        #expect(name(.readerTransceiveErrorTagNotConnected) == "not connected")
        #expect(name(.readerSessionInvalidationErrorUserCanceled) == "200 200 NFCError: Session invalidated by user")
        #expect(NFCISO15693TagResponseErrorKey == "ISO15693TagResponseErrorCode")
        #expect(NFCTagResponseUnexpectedLengthErrorKey == "TagResponseInvalidLength")
    }

    @Test func `Error description: as a phone prints it, the text first and then the keys in order`() {
        let canceled: any Error = NFCReaderError(.readerSessionInvalidationErrorUserCanceled)
        let text =
            "Error Domain=NFCError Code=200 \"Session invalidated by user\" "
            + "UserInfo={NSLocalizedDescription=Session invalidated by user}"
        #expect("\(canceled)" == text && String(reflecting: canceled) == text)
        let names = ["A", "ISO15693TagResponseErrorCode", "NSKey", "NSLocalizedFailureReason", "a", "b"]
        let info = Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
        let printed = names.map { "\($0)=1" }.joined(separator: ", ")
        let error = NFCReaderError(.readerErrorInvalidParameter, userInfo: info)
        #expect("\(error)".hasSuffix("UserInfo={NSLocalizedDescription=Invalid parameter, \(printed)}"))
    }

    // MARK: Causes

    private static func check(_ error: NFCReaderError, _ code: Int, _ reason: String?, _ cause: String) {
        #expect(error.errorCode == code && (error as NSError).localizedFailureReason == reason, "\(cause)")
    }

    @Test func `Session end: each cause has the phone's code`() {
        let rows: [(SessionEnd, Int, String?)] = [
            (.userCanceled, 200, nil), (.timeout, 201, nil), (.systemBusy, 203, nil), (.firstMessageRead, 204, nil),
            (.radioDisabled, 6, nil), (.terminatedUnexpectedly(reason: "Gone."), 202, "Gone."),
            (.appInBackground, 202, "The app went to the background."),
            (.unsupported(reason: "Not here."), 1, "Not here."),
        ]
        for (end, code, reason) in rows { Self.check(NFCReaderError(end), code, reason, "\(end)") }
    }

    @Test func `Tag error: each cause has the phone's code and its own reason`() {
        let unformatted: [TagError.Code] = [
            .noCapabilityContainer, .noMessageTLV, .badVersion, .lengthOverrun, .badChecksum, .writeInProgress,
            .readProtected,
        ]
        let rows: [(TagError.Code, Int)] = [
            (.tagLost, 100), (.readOnly, 400), (.messageTooLong, 402), (.updateFailed, 401), (.keyNeeded, 401),
            (.cancelled, 103), (.unsupported, 1), (.readerUnavailable, 100), (.badAnswer, 102), (.refused, 102),
            (.authenticationFailed, 102),
        ]
        for (cause, code) in rows + unformatted.map({ ($0, 102) }) {
            let error = NFCReaderError(TagError(cause, "Why."))
            Self.check(error, code, "Why.", "\(cause)")
            Self.check(NFCReaderError(CommandError.tag(TagError(cause, "Why."))), code, "Why.", "\(cause)")
            #expect((error.localizedDescription == "Tag Not NDEF formatted") == unformatted.contains(cause), "\(cause)")
        }
        for (link, code) in [(LinkError.Code.frameTooLong, 105), (.unsupported, 1)] {
            let error = TagError(.unsupported, "Why.", link: LinkError(link, "Why."))
            Self.check(NFCReaderError(error), code, "Why.", "\(link)")
        }
        for (cause, code) in [(CommandError.sessionInvalidated, 103), (.notConnected, 104), (.tagUnavailable, 100)] {
            #expect(NFCReaderError(cause).errorCode == code)
        }
    }
}
