// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

@Suite struct `Errors as clients use them` {
    @Test func `Every way in which clients look at an error works`() {
        let error: any Error = NFCReaderError(.readerSessionInvalidationErrorUserCanceled)
        #expect((error as? NFCReaderError)?.code == .readerSessionInvalidationErrorUserCanceled)
        #expect((error as? NFCReaderError)?.errorCode == 200)
        #expect((error as NSError).code == 200)
        #expect((error as NSError).domain == NFCErrorDomain)
        #expect((error as NSError).domain == "NFCError")
        #expect(error.localizedDescription == "Session invalidated by user")
        #expect((error as NSError).localizedDescription == "Session invalidated by user")
        #expect(NFCReaderError.errorDomain == "NFCError")
    }

    @Test func `Errors can be caught by their code`() {
        func name(_ code: NFCReaderError.Code) -> String {
            do {
                throw NFCReaderError(code)
            } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
                return "lost"
            } catch let error as NFCReaderError where error.code == .readerTransceiveErrorTagNotConnected {
                return "not connected"
            } catch {
                return "other"
            }
        }
        #expect(name(.readerTransceiveErrorTagConnectionLost) == "lost")
        #expect(name(.readerTransceiveErrorTagNotConnected) == "not connected")
        #expect(name(.readerErrorRadioDisabled) == "other")
    }

    @Test(arguments: [
        (1, "Feature not supported"), (2, "Missing required entitlement"), (100, "Tag connection lost"),
        (102, "Tag response error / no response"), (104, "Tag is not connected"),
        (200, "Session invalidated by user"), (201, "Session timeout"), (202, "Session invalidated unexpectedly"),
        (203, "System resource unavailable"), (204, "First NDEF tag read"),
        (403, "NDEF tag does not contain any NDEF message"),
        (3, "Invalid parameter"), (4, "Invalid parameter length"), (5, "Parameter value is out of bound"),
        (6, "NFC radio is disabled"), (7, "Device or user is not eligible"), (8, "Access not accepted by user"),
        (101, "Maximum retries exceeded"), (103, "Session invalidated"), (105, "Packet length has exceeded the limit"),
        (300, "Invalid configuration parameters"), (400, "NDEF tag is read only"), (401, "NDEF tag write failed"),
        (402, "Insufficient space on NDEF tag"),
    ]) func `A code has the phone's text`(rawValue: Int, text: String) throws {
        let code = try #require(NFCReaderError.Code(rawValue: rawValue))
        #expect(NFCReaderError(code).localizedDescription == text)
        #expect(NFCReaderError(code, userInfo: [:]).userInfo[NSLocalizedDescriptionKey] as? String == text)
    }

    @Test func `An error prints its text and what comes with it`() {
        let error: any Error = NFCReaderError(.readerSessionInvalidationErrorUserCanceled)
        let text =
            "Error Domain=NFCError Code=200 \"Session invalidated by user\" "
            + "UserInfo={NSLocalizedDescription=Session invalidated by user}"
        #expect("\(error)" == text)
        #expect(String(reflecting: error) == text)
        let wrapped = NFCReaderError(_nsError: NSError(domain: NFCErrorDomain, code: 201))
        #expect("\(wrapped)" == "Error Domain=NFCError Code=201 \"(null)\"")
        let reason = NFCReaderError(.readerErrorInvalidParameter, userInfo: [NSLocalizedFailureReasonErrorKey: "Why."])
        #expect(
            "\(reason)" == "Error Domain=NFCError Code=3 \"Invalid parameter\" "
                + "UserInfo={NSLocalizedDescription=Invalid parameter, NSLocalizedFailureReason=Why.}"
        )
    }

    @Test func `An error prints its text before what comes with it, whatever that is called`() {
        let error = NFCReaderError(
            .readerTransceiveErrorTagResponseError,
            userInfo: [NSLocalizedFailureReasonErrorKey: "Why.", NFCISO15693TagResponseErrorKey: 16]
        )
        #expect(
            "\(error)" == "Error Domain=NFCError Code=102 \"Tag response error / no response\" "
                + "UserInfo={NSLocalizedDescription=Tag response error / no response, "
                + "ISO15693TagResponseErrorCode=16, NSLocalizedFailureReason=Why.}"
        )
    }

    @Test func `What comes with an error is printed in the order of its names, with and without a text`() {
        let names = ["A", "B", "NSKey", "NSZone", "a", "b", "c", "d"]
        let info = Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
        let printed = names.map { "\($0)=1" }.joined(separator: ", ")
        let error = NFCReaderError(.readerErrorInvalidParameter, userInfo: info)
        #expect("\(error)".hasSuffix("UserInfo={NSLocalizedDescription=Invalid parameter, \(printed)}"))
        let wrapped = NFCReaderError(_nsError: NSError(domain: NFCErrorDomain, code: 201, userInfo: info))
        #expect("\(wrapped)".hasSuffix("UserInfo={\(printed)}"))
    }

    @Test func `What is given replaces the text and is kept`() {
        let error = NFCReaderError(
            .readerTransceiveErrorTagResponseError,
            userInfo: [NSLocalizedDescriptionKey: "Mine", "key": 7]
        )
        #expect(error.localizedDescription == "Mine")
        #expect(error.errorUserInfo["key"] as? Int == 7)
    }
}
