import CatalogueContract
import Testing

@Suite struct TransactionContractTests {
    @Test(arguments: CatalogueContract.transactions + CatalogueContract.observation + CatalogueContract.ownership)
    func isKept(_ check: ContractCheck) async throws { try await expectKept(check) }
}
