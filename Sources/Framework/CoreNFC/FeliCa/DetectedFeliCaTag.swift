// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink
import TagProtocols

/// A FeliCa card as an app sees it.
final class DetectedFeliCaTag: TagObject, NFCFeliCaTag, @unchecked Sendable {
    /// The system that polling selected.
    private struct System {
        var code: [UInt8]
        var idm: [UInt8]
    }

    // Sendable because a lock guards its only mutable state, the selected system.
    private let system: Locked<System>

    override init(_ surroundings: TagSurroundings) {
        let target = surroundings.handle.target
        var code: UInt16?
        if case .nfcF(let target) = target { code = target.systemCode }
        system = Locked(System(code: (code ?? 0xFFFF).bigEndianBytes, idm: target.identifier))
        super.init(surroundings)
    }

    required init?(coder: NSCoder) { nil }

    override var kind: String { "NFCFeliCaTag" }
    var type: __NFCTagType { .feliCa }
    var currentSystemCode: Data { Data(system.withLock { $0.code }) }
    var currentIDm: Data { Data(system.withLock { $0.idm }) }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { nil }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { nil }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { self }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }

    // MARK: Commands

    func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot,
        completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void
    ) {
        let packet = FeliCaPacket.polling(systemCode: systemCode, request: requestCode, slots: timeSlot)
        let checked = packet.flatMap { packet in
            configuration.violation(ofPolling: systemCode).map { .failure($0) } ?? .success(packet)
        }
        exchange(checked) { [self, code = [UInt8](systemCode)] bytes in
            FeliCaAnswer.parse(bytes, to: .polling, from: nil).flatMap { answer in
                answer.polling().map { value in
                    system.withLock { $0 = System(code: code, idm: answer.idm) }
                    return value
                }
            }
        } completion: { [self] result in
            if case .failure(let error) = result, error.meansNoSystem { system.withLock { $0.idm = [] } }
            let (parameter, data) = result.value(or: (Data(), Data()))
            completionHandler(parameter, data, result.error)
        }
    }

    func requestService(
        nodeCodeList: [Data],
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        send(.requestService, FeliCaPacket.nodes(nodeCodeList)) { answer in
            answer.pairs().flatMap { versions in
                versions.count == nodeCodeList.count ? .success(versions) : .failure(.otherNodes)
            }
        } completion: { result in
            completionHandler(result.value(or: []), result.error)
        }
    }

    func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void) {
        send(.requestResponse) {
            $0.mode()
        } completion: { result in
            completionHandler(result.value(or: -1), result.error)
        }
    }

    func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
    ) {
        let count = blockList.count
        send(.readWithoutEncryption, FeliCaPacket.access(services: serviceCodeList, blocks: blockList)) { answer in
            answer.blocks(count: count)
        } completion: { result in
            let (status, blocks) = result.value(or: (.none, []))
            completionHandler(status.statusFlag1, status.statusFlag2, blocks, result.error)
        }
    }

    func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data],
        completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
    ) {
        let access = FeliCaPacket.access(services: serviceCodeList, blocks: blockList, data: blockData)
        send(.writeWithoutEncryption, access, answer: .write) {
            $0.status()
        } completion: { result in
            let status = result.value(or: .none)
            completionHandler(status.statusFlag1, status.statusFlag2, result.error)
        }
    }

    func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
        send(.requestSystemCode) {
            $0.pairs()
        } completion: { result in
            completionHandler(result.value(or: []), result.error)
        }
    }

    func requestServiceV2(
        nodeCodeList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
    ) {
        send(.requestServiceV2, FeliCaPacket.nodes(nodeCodeList)) {
            $0.servicesV2(of: nodeCodeList.count)
        } completion: { result in
            switch result {
            case .success(let answer):
                completionHandler(
                    answer.statusFlag1,
                    answer.statusFlag2,
                    answer.encryptionIdentifier,
                    answer.nodeKeyVersionListAES ?? [],
                    answer.nodeKeyVersionListDES ?? [],
                    nil
                )
            case .failure(let error): completionHandler(-1, -1, .AES, [], [], error)
            }
        }
    }

    func requestSpecificationVersion(
        completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
    ) {
        send(.requestSpecificationVersion, .success([0, 0])) { answer in
            answer.specificationVersion()
        } completion: { result in
            switch result {
            case .success(let answer):
                completionHandler(
                    answer.statusFlag1,
                    answer.statusFlag2,
                    answer.basicVersion ?? Data(),
                    answer.optionVersion ?? Data(),
                    nil
                )
            case .failure(let error): completionHandler(-1, -1, Data(), Data(), error)
            }
        }
    }

    func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void) {
        send(.resetMode, .success([0, 0])) {
            $0.status()
        } completion: { result in
            let status = result.value(or: .none)
            completionHandler(status.statusFlag1, status.statusFlag2, result.error)
        }
    }

    func sendFeliCaCommand(
        commandPacket: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        exchange(FeliCaPacket.raw(commandPacket)) { bytes in
            .success(Data([UInt8(truncatingIfNeeded: bytes.count + 1)] + bytes))
        } completion: { result in
            completionHandler(result.value(or: Data()), result.error)
        }
    }

    /// Sends a command to the selected system.
    private func send<Value>(
        _ command: FeliCaPacket.Command,
        _ parameters: Result<[UInt8], NFCReaderError> = .success([]),
        answer: AnswerTime = .usual,
        decode: @escaping @Sendable (FeliCaAnswer) -> Result<Value, NFCReaderError>,
        completion: @escaping @Sendable (Result<Value, NFCReaderError>) -> Void
    ) {
        let idm = system.withLock { $0.idm }
        let packet = parameters.flatMap { FeliCaPacket.command(command, idm: idm, parameters: $0) }
        exchange(packet, answer: answer) { bytes in
            FeliCaAnswer.parse(bytes, to: command, from: idm).flatMap(decode)
        } completion: {
            completion($0)
        }
    }

}

extension NFCFeliCaStatusFlag {
    /// The status flags that completion handlers get together with an error.
    fileprivate static var none: NFCFeliCaStatusFlag { NFCFeliCaStatusFlag(statusFlag1: -1, statusFlag2: -1) }
}

extension NFCReaderError {
    /// Whether the card did not answer a Polling command, so that no system of it is selected.
    fileprivate var meansNoSystem: Bool { code == .readerTransceiveErrorTagResponseError }
}
