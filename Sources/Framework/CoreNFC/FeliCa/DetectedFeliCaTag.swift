// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink
import TagProtocols

final class DetectedFeliCaTag: TagObject, NFCFeliCaTag, @unchecked Sendable {
    /// The system that polling selected.
    private struct System {
        var code: [UInt8]
        var idm: [UInt8]
    }

    // Sendable because a lock guards the only mutable state, the selected system.
    private let system: Locked<System>

    override init(_ context: TagContext) {
        let target = context.handle.target
        var code: UInt16?
        if case .nfcF(let target) = target { code = target.systemCode }
        system = Locked(System(code: (code ?? 0xFFFF).bigEndianBytes, idm: target.identifier))
        super.init(context)
    }

    required init?(coder: NSCoder) { nil }

    override var kind: String { "NFCFeliCaTag" }
    var type: __NFCTagType { .feliCa }
    var currentSystemCode: Data { Data(system.withLock { $0.code }) }
    var currentIDm: Data { Data(system.withLock { $0.idm }) }

    private func send<Value>(
        _ command: FeliCaPacket.Command,
        _ parameters: @autoclosure () throws -> [UInt8] = [],
        or other: @escaping @autoclosure @Sendable () -> Value,
        decode: @escaping @Sendable (FeliCaAnswer) throws -> Value,
        completion: @escaping @Sendable (Value, (any Error)?) -> Void
    ) {
        let idm = system.withLock { $0.idm }
        exchange(
            try FeliCaPacket.raw([command.rawValue] + idm + parameters()),
            or: other(),
            decode: { try decode(FeliCaAnswer(parsing: $0, to: command, from: idm)) },
            completion: completion
        )
    }

    // MARK: Commands

    func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot,
        completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void
    ) {
        let packet = Result {
            let packet = try FeliCaPacket.polling(systemCode: systemCode, request: requestCode, slots: timeSlot)
            if let violation = context.configuration.violation(ofPolling: systemCode) { throw violation }
            return packet
        }
        exchange(try packet.get(), retrying: RetryPolicy(losesTag: false), or: (Data(), Data())) { [self] bytes in
            let answer = try FeliCaAnswer(parsing: bytes, to: .polling, from: nil)
            let value = try answer.polling()
            system.withLock { $0 = System(code: [UInt8](systemCode), idm: answer.idm) }
            return value
        } completion: { [self] value, error in
            // The card did not answer, so none of its systems is selected.
            if let error = error as? NFCReaderError, error.code == .readerTransceiveErrorTagResponseError {
                system.withLock { $0.idm = [] }
            }
            completionHandler(value.0, value.1, error)
        }
    }

    func requestService(
        nodeCodeList: [Data],
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        let count = nodeCodeList.count
        send(
            .requestService,
            try FeliCaPacket.nodes(nodeCodeList),
            or: [],
            decode: { try $0.pairs(of: count) },
            completion: completionHandler
        )
    }

    func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void) {
        send(.requestResponse, or: -1, decode: { try $0.mode() }, completion: completionHandler)
    }

    func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
    ) {
        let count = blockList.count
        send(
            .readWithoutEncryption,
            try FeliCaPacket.access(services: serviceCodeList, blocks: blockList),
            or: (.unknown, []),
            decode: { try $0.blocks(count: count) }
        ) { value, error in
            completionHandler(value.0.statusFlag1, value.0.statusFlag2, value.1, error)
        }
    }

    func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data],
        completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
    ) {
        send(
            .writeWithoutEncryption,
            try FeliCaPacket.access(services: serviceCodeList, blocks: blockList, data: blockData),
            or: .unknown,
            decode: { try $0.status() }
        ) { status, error in
            completionHandler(status.statusFlag1, status.statusFlag2, error)
        }
    }

    func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
        send(.requestSystemCode, or: [], decode: { try $0.pairs() }, completion: completionHandler)
    }

    func requestServiceV2(
        nodeCodeList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
    ) {
        let count = nodeCodeList.count
        send(
            .requestServiceV2,
            try FeliCaPacket.nodes(nodeCodeList),
            or: NFCFeliCaRequsetServiceV2Response(.unknown),
            decode: { try $0.servicesV2(of: count) }
        ) { answer, error in
            completionHandler(
                answer.statusFlag1,
                answer.statusFlag2,
                answer.encryptionIdentifier,
                answer.nodeKeyVersionListAES ?? [],
                answer.nodeKeyVersionListDES ?? [],
                error
            )
        }
    }

    func requestSpecificationVersion(
        completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
    ) {
        send(
            .requestSpecificationVersion,
            [0, 0],
            or: NFCFeliCaRequestSpecificationVersionResponse(.unknown),
            decode: { try $0.specificationVersion() }
        ) { answer, error in
            completionHandler(
                answer.statusFlag1,
                answer.statusFlag2,
                answer.basicVersion ?? Data(),
                answer.optionVersion ?? Data(),
                error
            )
        }
    }

    func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void) {
        send(.resetMode, [0, 0], or: .unknown, decode: { try $0.status() }) { status, error in
            completionHandler(status.statusFlag1, status.statusFlag2, error)
        }
    }

    func sendFeliCaCommand(
        commandPacket: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        let idm = system.withLock { $0.idm }
        exchange(
            try FeliCaPacket.raw(commandPacket, for: idm),
            or: Data(),
            decode: { Data([UInt8(truncatingIfNeeded: $0.count + 1)] + $0) },
            completion: completionHandler
        )
    }
}

extension NFCFeliCaStatusFlag {
    /// The status flags that are passed to completion handlers together with an error.
    fileprivate static var unknown: NFCFeliCaStatusFlag { NFCFeliCaStatusFlag(statusFlag1: -1, statusFlag2: -1) }
}
