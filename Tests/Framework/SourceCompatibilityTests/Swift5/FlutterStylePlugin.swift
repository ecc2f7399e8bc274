// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A plugin of a cross-platform framework: it switches over everything, keeps tags by handle and turns answers into
// dictionaries.

public class NfcPlugin: NSObject {
    var session: NFCTagReaderSession?
    var tags: [String: NFCNDEFTag] = [:]
    var onDiscovered: (([String: Any]) -> Void)?
    var onError: (([String: Any?]) -> Void)?

    func startSession(options: [String]) {
        session = NFCTagReaderSession(pollingOption: pollingOption(options), delegate: self)
        session?.begin()
    }

    func pollingOption(_ options: [String]) -> NFCTagReaderSession.PollingOption {
        var option = NFCTagReaderSession.PollingOption()
        options.forEach {
            switch $0 {
            case "iso14443": option.insert(.iso14443)
            case "iso15693": option.insert(.iso15693)
            case "iso18092": option.insert(.iso18092)
            default: break
            }
        }
        return option
    }

    func disposeTag(_ handle: String) {
        tags.removeValue(forKey: handle)
    }

    func read(_ handle: String, _ result: @escaping ([String: Any?]) -> Void) {
        guard let tag = tags[handle] else { return result(["error": "Tag is not found"]) }
        tag.queryNDEFStatus { status, capacity, error in
            if let error = error { return result(self.map(error)) }
            tag.readNDEF { message, error in
                if let error = error { return result(self.map(error)) }
                let records = message?.records.map { record -> [String: Any] in
                    [
                        "tnf": record.typeNameFormat.rawValue, "type": record.type, "id": record.identifier,
                        "payload": record.payload,
                    ]
                }
                result(["writable": status == .readWrite, "capacity": capacity, "records": records])
            }
        }
    }

    func transceive(_ handle: String, _ data: Data, _ result: @escaping ([String: Any?]) -> Void) {
        switch tags[handle] {
        case let tag as NFCMiFareTag:
            tag.sendMiFareCommand(commandPacket: data) { data, error in
                result(["data": data, "error": error.map { $0.localizedDescription }])
            }
        case let tag as NFCISO7816Tag:
            guard let apdu = NFCISO7816APDU(data: data) else { return result(["error": "Invalid APDU"]) }
            tag.sendCommand(apdu: apdu) { payload, sw1, sw2, error in
                if let error = error { return result(self.map(error)) }
                result(["payload": payload, "sw1": sw1, "sw2": sw2])
            }
        case let tag as NFCFeliCaTag:
            tag.sendFeliCaCommand(commandPacket: data) { data, error in
                if let error = error { return result(self.map(error)) }
                result(["data": data])
            }
        case let tag as NFCISO15693Tag:
            tag.customCommand(
                requestFlags: [.address, .highDataRate],
                customCommandCode: 0xA0,
                customRequestParameters: data
            ) {
                (data: Data, error: Error?) in
                if let error = error { return result(self.map(error)) }
                result(["data": data])
            }
        default:
            result(["error": "Tag is not found"])
        }
    }

    func map(_ error: Error) -> [String: Any?] {
        guard let error = error as? NFCReaderError else {
            return ["type": "unknown", "message": error.localizedDescription]
        }
        let type: String
        switch error.code {
        case .readerErrorUnsupportedFeature: type = "unsupportedFeature"
        case .readerErrorSecurityViolation: type = "securityViolation"
        case .readerErrorInvalidParameter: type = "invalidParameter"
        case .readerErrorInvalidParameterLength: type = "invalidParameterLength"
        case .readerErrorParameterOutOfBound: type = "parameterOutOfBound"
        case .readerErrorRadioDisabled: type = "radioDisabled"
        case .readerErrorIneligible: type = "ineligible"
        case .readerErrorAccessNotAccepted: type = "accessNotAccepted"
        case .readerTransceiveErrorTagConnectionLost: type = "tagConnectionLost"
        case .readerTransceiveErrorRetryExceeded: type = "retryExceeded"
        case .readerTransceiveErrorTagResponseError: type = "tagResponseError"
        case .readerTransceiveErrorSessionInvalidated: type = "sessionInvalidated"
        case .readerTransceiveErrorTagNotConnected: type = "tagNotConnected"
        case .readerTransceiveErrorPacketTooLong: type = "packetTooLong"
        case .readerSessionInvalidationErrorUserCanceled: type = "userCanceled"
        case .readerSessionInvalidationErrorSessionTimeout: type = "sessionTimeout"
        case .readerSessionInvalidationErrorSessionTerminatedUnexpectedly: type = "terminatedUnexpectedly"
        case .readerSessionInvalidationErrorSystemIsBusy: type = "systemIsBusy"
        case .readerSessionInvalidationErrorFirstNDEFTagRead: type = "firstTagRead"
        case .tagCommandConfigurationErrorInvalidParameters: type = "invalidConfiguration"
        case .ndefReaderSessionErrorTagNotWritable: type = "tagNotWritable"
        case .ndefReaderSessionErrorTagUpdateFailure: type = "tagUpdateFailure"
        case .ndefReaderSessionErrorTagSizeTooSmall: type = "tagSizeTooSmall"
        case .ndefReaderSessionErrorZeroLengthMessage: type = "zeroLengthMessage"
        case .paymentTagReaderSessionErrorLocationAuthorizationDenied: type = "locationDenied"
        case .paymentTagReaderSessionErrorLocationServiceRestricted: type = "locationRestricted"
        case .paymentTagReaderSessionErrorOnDeviceLocationUnavailable: type = "locationUnavailable"
        @unknown default: type = "unknown"
        }
        return [
            "type": type, "code": error.errorCode, "message": error.localizedDescription,
            "details": error.errorUserInfo,
        ]
    }
}

extension NfcPlugin: NFCTagReaderSessionDelegate {
    public func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    public func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
        onError?(map(error))
    }

    public func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        let handle = NSUUID().uuidString
        guard let tag = tags.first else { return }
        session.connect(to: tag) { error in
            if let error = error {
                print(error)
                return
            }
            var data: [String: Any] = ["handle": handle]
            switch tag {
            case .feliCa(let tag):
                self.tags[handle] = tag
                data["currentIDm"] = tag.currentIDm
                data["currentSystemCode"] = tag.currentSystemCode
            case .iso15693(let tag):
                self.tags[handle] = tag
                data["identifier"] = tag.identifier
                data["icManufacturerCode"] = tag.icManufacturerCode
                data["icSerialNumber"] = tag.icSerialNumber
            case .iso7816(let tag):
                self.tags[handle] = tag
                data["identifier"] = tag.identifier
                data["initialSelectedAID"] = tag.initialSelectedAID
                data["historicalBytes"] = tag.historicalBytes
                data["applicationData"] = tag.applicationData
                data["proprietaryApplicationDataCoding"] = tag.proprietaryApplicationDataCoding
            case .miFare(let tag):
                self.tags[handle] = tag
                data["identifier"] = tag.identifier
                data["mifareFamily"] = tag.mifareFamily.rawValue
                data["historicalBytes"] = tag.historicalBytes
            @unknown default:
                print("unknown tag")
            }
            self.onDiscovered?(data)
        }
    }
}
