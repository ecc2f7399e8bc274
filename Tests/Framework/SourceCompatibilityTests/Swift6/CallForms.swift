// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// Every command in every form, with trailing closures: each closure finds its overload by the number of its parameters.

final class CallLog: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [String: Int] = [:]

    func add(_ name: String, _ error: (any Error)?) {
        lock.lock()
        defer { lock.unlock() }
        entries["\(name) \(error.map { ($0 as NSError).code } ?? 0)", default: 0] += 1
    }

    func add<Value>(_ name: String, _ result: Result<Value, any Error>) {
        if case .failure(let error) = result { add(name, error) } else { add(name, nil) }
    }

    var calls: [String: Int] {
        lock.lock()
        defer { lock.unlock() }
        return entries
    }

    var count: Int { calls.values.reduce(0, +) }
}

func callISO7816Closures(_ tag: any NFCISO7816Tag, _ log: CallLog) {
    let apdu = NFCISO7816APDU(
        instructionClass: 0,
        instructionCode: 0xB0,
        p1Parameter: 0,
        p2Parameter: 0,
        data: Data(),
        expectedResponseLength: 256
    )
    tag.sendCommand(apdu: apdu) { _, _, _, error in log.add("sendCommand", error) }
    tag.sendCommand(apdu: apdu) { result in log.add("sendCommand result", result) }
}

func callISO7816Async(_ tag: any NFCISO7816Tag, _ log: CallLog) async {
    let apdu = NFCISO7816APDU(
        instructionClass: 0,
        instructionCode: 0xB0,
        p1Parameter: 0,
        p2Parameter: 0,
        data: Data(),
        expectedResponseLength: 256
    )
    do {
        let _: (Data, UInt8, UInt8) = try await tag.sendCommand(apdu: apdu)
        log.add("sendCommand async", nil as (any Error)?)
    } catch {
        log.add("sendCommand async", error)
    }
    do {
        let _: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: apdu)
        log.add("sendCommand async", nil as (any Error)?)
    } catch {
        log.add("sendCommand async", error)
    }
}

func callMiFareClosures(_ tag: any NFCMiFareTag, _ log: CallLog) {
    let apdu = NFCISO7816APDU(
        instructionClass: 0,
        instructionCode: 0xB0,
        p1Parameter: 0,
        p2Parameter: 0,
        data: Data(),
        expectedResponseLength: 256
    )
    tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { _, error in log.add("sendMiFareCommand", error) }
    tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { result in log.add("sendMiFareCommand result", result) }
    tag.sendMiFareISO7816Command(apdu) { _, _, _, error in log.add("sendMiFareISO7816Command", error) }
    tag.sendMiFareISO7816Command(apdu) { result in log.add("sendMiFareISO7816Command result", result) }
}

func callMiFareAsync(_ tag: any NFCMiFareTag, _ log: CallLog) async {
    let apdu = NFCISO7816APDU(
        instructionClass: 0,
        instructionCode: 0xB0,
        p1Parameter: 0,
        p2Parameter: 0,
        data: Data(),
        expectedResponseLength: 256
    )
    do {
        let _: Data = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0]))
        log.add("sendMiFareCommand async", nil as (any Error)?)
    } catch {
        log.add("sendMiFareCommand async", error)
    }
    do {
        let _: (Data, UInt8, UInt8) = try await tag.sendMiFareISO7816Command(apdu)
        log.add("sendMiFareISO7816Command async", nil as (any Error)?)
    } catch {
        log.add("sendMiFareISO7816Command async", error)
    }
    do {
        let _: NFCISO7816ResponseAPDU = try await tag.sendMiFareISO7816Command(apdu)
        log.add("sendMiFareISO7816Command async", nil as (any Error)?)
    } catch {
        log.add("sendMiFareISO7816Command async", error)
    }
}

func callFeliCaClosures(_ tag: any NFCFeliCaTag, _ log: CallLog) {
    tag.polling(systemCode: Data([0x00, 0x03]), requestCode: .noRequest, timeSlot: .max1) { _, _, error in
        log.add("polling", error)
    }
    tag.polling(systemCode: Data([0x00, 0x03]), requestCode: .noRequest, timeSlot: .max1) { result in
        log.add("polling result", result)
    }
    tag.requestService(nodeCodeList: [Data([0x0F, 0x09])]) { _, error in log.add("requestService", error) }
    tag.requestService(nodeCodeList: [Data([0x0F, 0x09])]) { result in log.add("requestService result", result) }
    tag.requestResponse { _, error in log.add("requestResponse", error) }
    tag.requestResponse { result in log.add("requestResponse result", result) }
    tag.readWithoutEncryption(serviceCodeList: [Data([0x0F, 0x09])], blockList: [Data([0x80, 0x00])]) {
        _,
        _,
        _,
        error in log.add("readWithoutEncryption", error)
    }
    tag.readWithoutEncryption(serviceCodeList: [Data([0x0F, 0x09])], blockList: [Data([0x80, 0x00])]) { result in
        log.add("readWithoutEncryption result", result)
    }
    tag.writeWithoutEncryption(
        serviceCodeList: [Data([0x0F, 0x09])],
        blockList: [Data([0x80, 0x00])],
        blockData: [Data(count: 16)]
    ) { _, _, error in log.add("writeWithoutEncryption", error) }
    tag.writeWithoutEncryption(
        serviceCodeList: [Data([0x0F, 0x09])],
        blockList: [Data([0x80, 0x00])],
        blockData: [Data(count: 16)]
    ) { result in log.add("writeWithoutEncryption result", result) }
    tag.requestSystemCode { _, error in log.add("requestSystemCode", error) }
    tag.requestSystemCode { result in log.add("requestSystemCode result", result) }
    tag.requestServiceV2(nodeCodeList: [Data([0x0F, 0x09])]) { _, _, _, _, _, error in
        log.add("requestServiceV2", error)
    }
    tag.requestServiceV2(nodeCodeList: [Data([0x0F, 0x09])]) { result in log.add("requestServiceV2 result", result) }
    tag.requestSpecificationVersion { _, _, _, _, error in log.add("requestSpecificationVersion", error) }
    tag.requestSpecificationVersion { result in log.add("requestSpecificationVersion result", result) }
    tag.resetMode { _, _, error in log.add("resetMode", error) }
    tag.resetMode { result in log.add("resetMode result", result) }
    tag.sendFeliCaCommand(commandPacket: Data([1, 2, 3, 4])) { _, error in log.add("sendFeliCaCommand", error) }
    tag.sendFeliCaCommand(commandPacket: Data([1, 2, 3, 4])) { result in log.add("sendFeliCaCommand result", result) }
}

func callFeliCaAsync(_ tag: any NFCFeliCaTag, _ log: CallLog) async {
    do {
        let _: (Data, Data) = try await tag.polling(
            systemCode: Data([0x00, 0x03]),
            requestCode: .noRequest,
            timeSlot: .max1
        )
        log.add("polling async", nil as (any Error)?)
    } catch {
        log.add("polling async", error)
    }
    do {
        let _: [Data] = try await tag.requestService(nodeCodeList: [Data([0x0F, 0x09])])
        log.add("requestService async", nil as (any Error)?)
    } catch {
        log.add("requestService async", error)
    }
    do {
        let _: Int = try await tag.requestResponse()
        log.add("requestResponse async", nil as (any Error)?)
    } catch {
        log.add("requestResponse async", error)
    }
    do {
        let _: (Int, Int, [Data]) = try await tag.readWithoutEncryption(
            serviceCodeList: [Data([0x0F, 0x09])],
            blockList: [Data([0x80, 0x00])]
        )
        log.add("readWithoutEncryption async", nil as (any Error)?)
    } catch {
        log.add("readWithoutEncryption async", error)
    }
    do {
        let _: (Int, Int) = try await tag.writeWithoutEncryption(
            serviceCodeList: [Data([0x0F, 0x09])],
            blockList: [Data([0x80, 0x00])],
            blockData: [Data(count: 16)]
        )
        log.add("writeWithoutEncryption async", nil as (any Error)?)
    } catch {
        log.add("writeWithoutEncryption async", error)
    }
    do {
        let _: [Data] = try await tag.requestSystemCode()
        log.add("requestSystemCode async", nil as (any Error)?)
    } catch {
        log.add("requestSystemCode async", error)
    }
    do {
        let _: (Int, Int, NFCFeliCaEncryptionId, [Data], [Data]) = try await tag.requestServiceV2(nodeCodeList: [
            Data([0x0F, 0x09])
        ])
        log.add("requestServiceV2 async", nil as (any Error)?)
    } catch {
        log.add("requestServiceV2 async", error)
    }
    do {
        let _: (Int, Int, Data, Data) = try await tag.requestSpecificationVersion()
        log.add("requestSpecificationVersion async", nil as (any Error)?)
    } catch {
        log.add("requestSpecificationVersion async", error)
    }
    do {
        let _: (Int, Int) = try await tag.resetMode()
        log.add("resetMode async", nil as (any Error)?)
    } catch {
        log.add("resetMode async", error)
    }
    do {
        let _: Data = try await tag.sendFeliCaCommand(commandPacket: Data([1, 2, 3, 4]))
        log.add("sendFeliCaCommand async", nil as (any Error)?)
    } catch {
        log.add("sendFeliCaCommand async", error)
    }
}
